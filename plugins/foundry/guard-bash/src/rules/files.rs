//! Deleting trees, and permissions for everyone.

use portcullis_sdk::shell::Command;
use portcullis_shell::removal::Removal;

/// Letters that may stand in a cluster of `chmod` options; anything else that begins with a hyphen is a mode.
const CHMOD_FLAGS: &str = "RvcfhHLP";

/// All of read, write and execute for owner, group and others.
const EVERYTHING: u32 = 0o777;
/// On a shared directory, only owners may delete.
const STICKY: u32 = 0o1000;

/// `rm` with both `-r` (or `-R`) and `-f`, whatever it deletes; in PowerShell the same by its own names.
pub fn removes_trees_by_force(command: &Command) -> bool {
    Removal::of(command).is_some_and(|removal| removal.recursive && removal.force)
}

/// `chmod` to a mode that lets everyone read, write and execute.
pub fn opens_to_everyone(command: &Command) -> bool {
    command.program == "chmod" && mode(command).is_some_and(|mode| is_octal_for_everyone(mode) || is_symbolic_for_everyone(mode))
}

/// The first word of `chmod` that is no option.
fn mode(command: &Command) -> Option<&str> {
    let mut words = command.arguments().iter();
    loop {
        let word = words.next()?.value.as_deref()?;
        match word.strip_prefix('-') {
            Some("-") => return words.next()?.value.as_deref(),
            // The mode is that of another file.
            Some(long) if long.starts_with("-ref") => return None,
            Some(long) if long.starts_with('-') => {}
            Some(flags) if !flags.is_empty() && flags.chars().all(|flag| CHMOD_FLAGS.contains(flag)) => {}
            _ => return Some(word),
        }
    }
}

/// `777`, also behind `=` or `+` and with more digits before it.
fn is_octal_for_everyone(mode: &str) -> bool {
    let digits = mode.strip_prefix(['=', '+']).unwrap_or(mode);
    u32::from_str_radix(digits, 8).is_ok_and(|bits| bits & EVERYTHING == EVERYTHING && bits & STICKY == 0)
}

/// Whether the clauses (`u=rwx,go+w`) leave everything to everyone. Clauses that name nobody are subject to the umask and
/// do not count; permissions that files have already are not known.
fn is_symbolic_for_everyone(mode: &str) -> bool {
    let mut sticky = false;
    let mut granted = [0u8; 3];
    for clause in mode.split(',') {
        let Some(operations) = clause.find(|letter| !"ugoa".contains(letter)) else { return false };
        let (who, mut rest) = clause.split_at(operations);
        while let Some(operator) = rest.chars().next() {
            if !"=+-".contains(operator) {
                return false;
            }
            let end = rest[1..].find(['=', '+', '-']).map_or(rest.len(), |end| end + 1);
            let permissions = &rest[1..end];
            let Some(bits) = permissions.chars().try_fold(0, |bits, letter| Some(bits | bits_of(letter, &granted)?)) else {
                return false;
            };
            if permissions.contains('t') {
                sticky = operator != '-';
            }
            for (class, granted) in "ugo".chars().zip(&mut granted) {
                if who.contains(class) || who.contains('a') {
                    *granted = match operator {
                        '=' => bits,
                        '+' => *granted | bits,
                        _ => *granted & !bits,
                    };
                }
            }
            rest = &rest[end..];
        }
    }
    granted == [7; 3] && !sticky
}

/// The bits of one permission letter, which may also name a class to copy from.
fn bits_of(letter: char, granted: &[u8; 3]) -> Option<u8> {
    Some(match letter {
        'r' => 4,
        'w' => 2,
        'x' => 1,
        'u' => granted[0],
        'g' => granted[1],
        'o' => granted[2],
        'X' | 's' | 't' => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    #[test]
    fn rm_needs_both_flags() {
        for text in [
            "rm -rf x",
            "rm -fR x",
            "rm x -r y -f",
            "rm --r --f x",
            "rm -ivrf x",
            "rm --recursive -f -- x",
            "rm -r -fo x",
            "rm -Recurse -Force x",
            "Remove-Item -Recurse -Force x",
            "ri x -r -fo",
            "rd -Force -Rec x",
        ] {
            assert!(commands(text).iter().any(removes_trees_by_force), "{text}");
        }
        for text in [
            "rm -r x",
            "rm -f x",
            "rm -r -- -f",
            "rm --recursive --foo x",
            "rmdir -rf x",
            "rm -r $FLAGS",
            "rm ./x-rf",
            "rm -Force x",
            "Remove-Item -Force x",
            "Remove-Item -Recurse x",
            "rm -r -- -force",
        ] {
            assert!(!commands(text).iter().any(removes_trees_by_force), "{text}");
        }
    }

    #[test]
    fn octal_modes() {
        for mode in ["777", "0777", "00777", "2777", "4777", "6777", "=777", "+777"] {
            assert!(is_octal_for_everyone(mode), "{mode}");
        }
        for mode in ["776", "767", "677", "1777", "7777", "3777", "77", "778", "-777", "", "+", "u777", "7777777777777777"] {
            assert!(!is_octal_for_everyone(mode), "{mode}");
        }
    }

    #[test]
    fn symbolic_modes() {
        for mode in ["a+rwx", "ugo=rwx", "u=rwx,g=rwx,o=rwx", "u=rwx,go=u", "a=rw,a+x", "a=rwx,o-w,o+w", "a+rw+x", "a=rwxs"] {
            assert!(is_symbolic_for_everyone(mode), "{mode}");
        }
        for mode in [
            "u+rwx",
            "+rwx",
            "=rwx",
            "a+rw",
            "a+rwX",
            "a+rwx,o-w",
            "go=u",
            "a=rwxt",
            "a=rwx,+t",
            "rwx",
            "a",
            "",
            "a+rwq",
            "a+rwx,",
        ] {
            assert!(!is_symbolic_for_everyone(mode), "{mode}");
        }
    }

    #[test]
    fn the_mode_is_the_first_word_that_is_no_option() {
        for text in ["chmod 777 x", "chmod -Rv --changes 777 x", "chmod -- 777 x", "chmod x -R 777".replace('x', "777").as_str()]
        {
            assert!(commands(text).iter().any(opens_to_everyone), "{text}");
        }
        for text in [
            "chmod 644 777",
            "chmod -w 777",
            "chmod --reference=a 777",
            "chmod --ref a 777",
            "chmod $MODE 777",
            "chmod -R",
            "chmod",
        ] {
            assert!(!commands(text).iter().any(opens_to_everyone), "{text}");
        }
    }
}
