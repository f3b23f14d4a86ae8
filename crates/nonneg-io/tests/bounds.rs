//! Bounds may be infinite, other vectors may not.

mod common;

use common::Folder;
use nonneg_io::{read_bounds, read_vector, write_vector};

const ARRAY: &str = "%%MatrixMarket matrix array real general\n";

#[test]
fn infinity_is_no_bound() {
    let folder = Folder::new();
    for spelling in ["inf", "Inf", "INF", "+inf", "Infinity", "+infinity", "INFINITY", "1e999"] {
        for (name, text) in [
            ("u.txt", format!("1.5\n{spelling}\n2\n")),
            ("row.csv", format!("1.5,{spelling}, 2\n")),
            ("header.csv", format!("upper\n1.5\n\"{spelling}\"\n2\n")),
            ("u.mtx", format!("{ARRAY}3 1\n1.5\n{spelling}\n2\n")),
        ] {
            let path = folder.write(name, &text);
            assert_eq!(read_bounds(&path).unwrap(), [1.5, f64::INFINITY, 2.0], "{text:?}");
            let message = read_vector(&path).unwrap_err().to_string();
            assert!(message.starts_with(&path) && message.contains("finite number"), "{message}");
        }
    }
    for spelling in ["-inf", "-Infinity", "-1e999"] {
        let path = folder.write("lower.txt", format!("1\n{spelling}\n"));
        assert_eq!(read_bounds(&path).unwrap(), [1.0, f64::NEG_INFINITY]);
    }
    let path = folder.write("first.txt", "inf\n3\n");
    assert_eq!(read_bounds(&path).unwrap(), [f64::INFINITY, 3.0]);
    assert_eq!(read_bounds(&folder.write("all.txt", "inf\ninf\n")).unwrap(), [f64::INFINITY; 2]);
    assert!(read_vector(&path).unwrap_err().to_string().contains("line 1: 'inf' is not a finite number"));
}

#[test]
fn arrays() {
    // write_vector need not write infinity: its bits are put in by hand.
    let folder = Folder::new();
    let path = folder.path("u.npy");
    write_vector(&path, &[1.0, 2.0]).unwrap();
    let put = |value: f64| {
        let mut bytes = std::fs::read(&path).unwrap();
        let end = bytes.len();
        bytes[end - 8..].copy_from_slice(&value.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
    };
    put(f64::INFINITY);
    assert_eq!(read_bounds(&path).unwrap(), [1.0, f64::INFINITY]);
    assert!(read_vector(&path).unwrap_err().to_string().contains("element 1 is inf, expected a finite number"));
    put(f64::NEG_INFINITY);
    assert_eq!(read_bounds(&path).unwrap(), [1.0, f64::NEG_INFINITY]);
    put(f64::NAN);
    let message = read_bounds(&path).unwrap_err().to_string();
    assert!(message.contains("element 1 is") && message.contains("expected a number, inf or -inf"), "{message}");
}

#[test]
fn what_is_no_number_is_refused() {
    let folder = Folder::new();
    for word in ["nan", "-nan", "infinite", "inf1", "--inf"] {
        for (name, text, line) in [
            ("u.txt", format!("1\n{word}\n"), 2),
            ("u.csv", format!("upper\n1\n{word}\n"), 3),
            ("u.mtx", format!("{ARRAY}2 1\n1\n{word}\n"), 4),
        ] {
            let path = folder.write(name, text);
            let message = read_bounds(&path).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{path}, line {line}: ")) && message.contains(word), "{message}");
        }
    }
    let sparse = "%%MatrixMarket matrix coordinate real general\n2 1 1\n1 1 inf\n";
    assert!(read_bounds(&folder.write("s.mtx", sparse)).is_err());
    assert!(read_bounds(&folder.write("two.csv", "1,inf\n2,inf\n")).unwrap_err().to_string().contains("2×2"));
}
