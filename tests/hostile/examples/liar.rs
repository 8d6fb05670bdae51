//! A gate that names the right contract and has another function in it.
// Both only in what is generated.
#![allow(missing_docs, unsafe_code)]

wit_bindgen::generate!({
    inline: "
        package portcullis:gate@1.0.0;
        interface judge {
            evaluate: func(event: string) -> string;
        }
        world gate {
            export judge;
        }
    ",
});

struct Gate;

impl exports::portcullis::gate::judge::Guest for Gate {
    fn evaluate(event: String) -> String {
        event
    }
}

#[cfg(target_arch = "wasm32")]
export!(Gate);
