//! Values are put together here, so that no file of the project holds one that a scanner would take for real.

use std::time::{Duration, Instant};

use super::*;

/// Mixed characters of every class, none of them special to a detector.
const MIX: &str = "Zk3vQ9Lm7Rt2Wb5Xc8Yd";

fn mix(length: usize) -> String {
    MIX.chars().cycle().take(length).collect()
}

fn found(text: &str) -> Option<&'static str> {
    first(&[text.to_owned()]).map(|detector| detector.id)
}

/// `text` is found as `id`; with a word character before it and without its last character it is not.
fn assert_exact(id: &str, text: &str) {
    assert_eq!(found(text), Some(id), "{text}");
    assert_eq!(found(&format!("é{text}é, \u{1F600}")), Some(id), "other characters are no word characters: {text}");
    for spoilt in [format!("a{text}"), format!("_{text}"), text[..text.len() - 1].to_owned()] {
        assert_eq!(found(&spoilt), None, "{spoilt}");
    }
}

#[test]
fn aws_access_key() {
    let key = format!("AK{}{}", "IA", "Q3EGRIOSFODNN7X2");
    assert_exact("aws-access-key", &key);
    assert_eq!(found(&format!("{key}A")), None, "seventeen characters");
    assert_eq!(found(&format!("{key}a")), None, "no boundary behind sixteen");
    assert_eq!(found(&format!("{key}-A")), Some("aws-access-key"));
    assert_eq!(found(&key.to_lowercase()), None);
}

#[test]
fn github_token() {
    for kind in ["ghp", "gho", "ghu", "ghs", "ghr"] {
        assert_exact("github-token", &format!("{kind}_{}", mix(36)));
    }
    assert_eq!(found(&format!("ghx_{}", mix(36))), None);
    assert_eq!(found(&format!("ghp_{}", mix(90))), Some("github-token"));
    assert_eq!(found(&format!("ghp_{}_", mix(90))), None, "no boundary before an underscore");
    assert_exact("github-token", &format!("github_{}_{}_{}", "pat", mix(20), mix(19)));
}

#[test]
fn anthropic_key() {
    let key = format!("sk-{}-{}", "ant", mix(20));
    assert_exact("anthropic-key", &key);
    assert_eq!(found(&format!("sk-{}-{}-----", "ant", mix(20))), Some("anthropic-key"), "ends at the last boundary");
    assert_eq!(found(&format!("sk-{}-{}-----", "ant", mix(19))), None, "hyphens at the end do not count");
}

#[test]
fn openai_key() {
    assert_exact("openai-key", &format!("sk-{}", mix(32)));
    assert_eq!(found(&format!("sk-{}_", mix(32))), None);
    for kind in ["proj", "svcacct", "admin"] {
        assert_exact("openai-key", &format!("sk-{kind}-{}", mix(20)));
    }
    assert_eq!(found(&format!("sk-other-{}", mix(20))), None);
}

#[test]
fn slack_token() {
    for kind in ["b", "a", "p", "r", "s"] {
        assert_exact("slack-token", &format!("xox{kind}-12345-{}", mix(4)));
    }
    assert_eq!(found(&format!("xoxc-{}", mix(10))), None);
    assert_eq!(found(&format!("xoxb-{}-_", mix(10))), Some("slack-token"), "a boundary before the underscore");
    assert_eq!(found(&format!("xoxb-{}_", mix(10))), None);
}

#[test]
fn private_key() {
    let header = |name: &str| format!("x{0}BEGIN {name}{0}\n", "-".repeat(5));
    for name in ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "A B C D PRIVATE KEY", "PRIVATE KEY PRIVATE KEY"] {
        assert_eq!(found(&header(name)), Some("private-key"), "{name}");
    }
    for name in [
        "PUBLIC KEY",
        "CERTIFICATE",
        "A B C D E PRIVATE KEY",
        "A  PRIVATE KEY",
        "RSAPRIVATE KEY",
        "rsa PRIVATE KEY",
        "PRIVATE KEY BLOCKS",
        "REDACTED PRIVATE KEY",
    ] {
        assert_eq!(found(&header(name)), None, "{name}");
    }
    let whole = header("PRIVATE KEY");
    assert_eq!(found(whole.trim_end().strip_suffix('-').unwrap()), None, "four hyphens");
}

#[test]
fn json_web_token() {
    let part = mix(10);
    assert_exact("jwt", &format!("eyJ{part}.{part}.{part}"));
    assert_eq!(found(&format!("eyJ{part}.{part}.{part}--")), Some("jwt"));
    assert_eq!(found(&format!("eyJ{}.{part}.{part}", mix(9))), None);
    assert_eq!(found(&format!("eyJ{part}.{}.{part}", mix(9))), None);
    assert_eq!(found(&format!("eyJ{part}.eyJ{part}.{part}")), Some("jwt"));
    assert_eq!(
        found(&format!("eyJ{part}-eyJ{part}.x.{part}.eyJ{part}.{part}.{part}")),
        Some("jwt"),
        "the search goes on behind a failed start"
    );
}

#[test]
fn connection_string() {
    let url = |scheme: &str, user: &str, password: &str| format!("\"{scheme}://{user}:{password}@db/app\"");
    for scheme in [
        "postgres",
        "postgresql",
        "mysql",
        "mariadb",
        "mongodb",
        "redis",
        "rediss",
        "mssql",
        "sqlserver",
        "cockroachdb",
        "clickhouse",
    ] {
        assert_eq!(found(&url(scheme, "app", "pw12345")), Some("connection-string"), "{scheme}");
        assert_eq!(found(&url(&format!("{scheme}+driver"), "", "p")), Some("connection-string"), "{scheme}");
    }
    for (scheme, user, password) in [
        ("https", "app", "pw"),
        ("Postgres", "app", "pw"),
        ("+postgres+", "app", "pw"),
        ("postgres", "a b", "pw"),
        ("postgres", "app", ""),
        ("postgres", "app", "p w"),
        ("postgres", "app", "p/w"),
        ("postgres", "app", "p'w"),
        ("postgres", "app", "xxx"),
        ("postgres", "app", "${PW}"),
        ("postgres", "app", "your-password"),
    ] {
        assert_eq!(found(&url(scheme, user, password)), None, "{scheme} {user} {password}");
    }
    assert_eq!(found("postgres://app:5432/x@y"), None, "a port");
    assert_eq!(found("postgres://app:pw"), None);
}

#[test]
fn a_fake_does_not_hide_what_follows() {
    let token = |secret: &str| format!("ghp_{secret}");
    let fake = token(&"x".repeat(36));
    assert_eq!(found(&fake), None);
    assert_eq!(found(&format!("{fake} {}", token(&mix(36)))), Some("github-token"));
    assert_eq!(found(&format!("redis://:REDACTED{0}cache redis://:pw12345{0}cache", '@')), Some("connection-string"));
    assert_eq!(found(&token(&format!("YOUR1TOKEN1{}", mix(30)))), None);
}

#[test]
fn the_first_detector_of_the_table_is_reported() {
    let slack = format!("xoxb-{}", mix(12));
    let github = format!("ghp_{}", mix(36));
    assert_eq!(found(&format!("{slack}\n{github}")), Some("github-token"));
    let reported = first(&[slack, String::new(), github]).map(|detector| detector.id);
    assert_eq!(reported, Some("github-token"), "across texts as well");
}

/// A megabyte of each takes milliseconds when every byte is read once, and hours when it is read once per start.
#[test]
fn hostile_texts_take_linear_time() {
    const SIZE: usize = 1 << 20;
    let repeated = |text: &str| text.repeat(SIZE / text.len());
    let jwt_parts = format!("{}.{}", repeated("eyJ-aaaaaaaaaa-").split_at(SIZE / 2).0, "a".repeat(SIZE / 2));
    let texts = [
        repeated("_"),
        repeated("-"),
        repeated("sk-ant-"),
        repeated("sk-proj-"),
        repeated("xoxb-"),
        repeated("eyJ"),
        repeated("eyJ-aaaaaaaaaa."),
        repeated("-----BEGIN "),
        repeated("-----BEGIN A"),
        repeated("postgres://"),
        repeated("postgres://a:"),
        repeated("ghp_"),
        format!("eyJ{}", "a".repeat(SIZE)),
        format!("sk-ant-{}", "-".repeat(SIZE)),
        jwt_parts,
    ];
    for text in &texts {
        let start = Instant::now();
        found(text);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?} for {}…", start.elapsed(), &text[..20]);
    }
}
