//! Components without the part of WASI that they never use: the standard library imports standard output, arguments and
//! environment for the message of a panic, and each event would pay for their description.
//!
//! These imports become functions that trap. What a gate says when it panics it says to its host, through `log`.

use std::convert::Infallible;

use anyhow::{Context, Result, bail};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, Function, FunctionSection, ImportSection, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, ImportSectionReader, Parser, Payload, TypeRef};
use wit_component::{ComponentEncoder, DecodedWasm, StringEncoding, decode, embed_component_metadata};

/// Beginnings of the names of interfaces whose functions become traps.
const UNUSED: [&str; 2] = ["wasi:cli/", "wasi:io/"];

/// The same component without these imports.
pub fn slim(component: &[u8]) -> Result<Vec<u8>> {
    let DecodedWasm::Component(contract, world) = decode(component)? else { bail!("it is no component") };
    let mut module = without_unused(gate(component)?)?;
    embed_component_metadata(&mut module, &contract, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.validate(true).encode()
}

/// The module that was compiled. It comes first; what follows only ties it to its imports, and is made anew.
fn gate(component: &[u8]) -> Result<&[u8]> {
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::ModuleSection { unchecked_range: range, .. } = payload? {
            return component.get(usize::try_from(range.start)?..usize::try_from(range.end)?).context("it is cut off");
        }
    }
    bail!("it holds no module")
}

fn without_unused(module: &[u8]) -> Result<Vec<u8>> {
    let mut imported = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::ImportSection(section) = payload? {
            for import in section.into_imports() {
                let import = import?;
                if let TypeRef::Func(ty) = import.ty {
                    imported.push((is_unused(import.module), ty));
                }
            }
        }
    }
    let mut slim = Module::new();
    Traps::of(&imported).parse_core_module(&mut slim, Parser::new(0), module)?;
    Ok(slim.finish())
}

fn is_unused(interface: &str) -> bool {
    UNUSED.iter().any(|start| interface.starts_with(start))
}

/// Puts functions that trap in the place of imports. Imported functions are numbered before all others, so that the first of
/// a module's own get the numbers that are left.
struct Traps {
    /// The type of each.
    types: Vec<u32>,
    /// What each imported function is called now.
    numbers: Vec<u32>,
}

impl Traps {
    /// From whether each imported function is unused, and its type.
    fn of(imported: &[(bool, u32)]) -> Self {
        let (mut kept, mut trap) = (0..0, imported.iter().filter(|(unused, _)| !unused).count() as u32..0);
        (kept.end, trap.end) = (trap.start, imported.len() as u32);
        let next = |(unused, _): &(bool, u32)| if *unused { trap.next() } else { kept.next() };
        let numbers = imported.iter().filter_map(next).collect();
        Self { types: imported.iter().filter(|(unused, _)| *unused).map(|(_, ty)| *ty).collect(), numbers }
    }
}

impl Reencode for Traps {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.numbers.get(function as usize).copied().unwrap_or(function))
    }

    fn parse_import_section(&mut self, into: &mut ImportSection, from: ImportSectionReader) -> Result<(), Error<Infallible>> {
        for import in from.into_imports() {
            let import = import?;
            if !is_unused(import.module) {
                utils::parse_import(self, into, import)?;
            }
        }
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        into: &mut FunctionSection,
        from: FunctionSectionReader,
    ) -> Result<(), Error<Infallible>> {
        for ty in &self.types {
            into.function(*ty);
        }
        utils::parse_function_section(self, into, from)
    }

    fn parse_code_section(&mut self, into: &mut CodeSection, from: CodeSectionReader) -> Result<(), Error<Infallible>> {
        for _ in &self.types {
            let mut trap = Function::new([]);
            trap.instructions().unreachable().end();
            into.function(&trap);
        }
        utils::parse_code_section(self, into, from)
    }
}

#[cfg(test)]
mod tests {
    use super::Traps;

    #[test]
    fn functions_that_trap_come_after_the_imports_that_stay() {
        let traps = Traps::of(&[(true, 7), (false, 8), (true, 9), (false, 7)]);
        assert_eq!((traps.numbers, traps.types), (vec![2, 0, 3, 1], vec![7, 9]));
    }
}
