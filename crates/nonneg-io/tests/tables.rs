//! Tables of text as pandas and R write them: what is a header, and what are labels of rows.

mod common;

use common::{Folder, rows};
use nonneg_io::{may_begin_with_header, read_problem, read_transposed_problem, read_vector};

#[test]
fn row_labels_were_refused_or_taken_for_numbers() {
    let folder = Folder::new();
    for (name, text) in [
        ("pandas.csv", ",x,y\n0,1.5,2\n1,3,4\n"),
        ("numbered.csv", ",0,1\n0,1.5,2\n1,3,4\n"),
        ("wavelengths.csv", ",400.0,400.5\na,1.5,2\nb,3,4\n"),
        ("text.tsv", "\tx\ty\na\t1.5\t2\nb c\t3\t4\n"),
        ("two.csv", ",,x,y\na,0,1.5,2\n,1,3,4\n"),
        ("commas.csv", "\u{FEFF}# c\n,\"x, 1\",y\r\n\"a, b\",1.5,2\r\n\r\n\"say \"\"c, d\"\"\",3,4\r\n"),
        ("write_csv.csv", "\"\",\"V1\",\"V2\"\n\"1\",1.5,2\n\"2\",3,4\n"),
        ("write_csv2.csv", "\"\";\"V1\";\"V2\"\n\"1\";1.5;2\n\"2\";3;4\n"),
        ("write_table.txt", "\"V1\" \"V 2\"\n\"1\" 1.5 2\n\"b c\" 3 4\n"),
        ("write_table.csv", "\"V1\",\"V2\"\n\"1\",1.5,2\n\"2\",3,4\n"),
    ] {
        let problem = read_problem(&folder.write(name, text), None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(rows(&problem.matrix), [[1.5, 2.0], [3.0, 4.0]], "{name}");
    }
    for (name, text) in [
        ("series.csv", ",0\n0,1.5\n1,2\n"),
        ("named.csv", ",my value\na,1.5\nb,2\n"),
        ("series.tsv", "\t0\n0\t1.5\n1\t2\n"),
        ("named.tsv", "\tmy value\n0\t1.5\n1\t2\n"),
        ("write_table.txt", "\"x\"\n\"1\" 1.5\n\"2\" 2\n"),
    ] {
        assert_eq!(read_vector(&folder.write(name, text)).unwrap_or_else(|e| panic!("{e}")), [1.5, 2.0], "{name}");
    }
}

#[test]
fn what_is_no_label() {
    let folder = Folder::new();
    for (name, text) in [
        ("quoted.csv", "\"x\",\"y, z\"\n1.5,2\n3,4\n"),
        ("indented.txt", "\t1.5 2\n\t3 4\n"),
        ("words.txt", "a title of words\n1.5 2\n3 4\n"),
    ] {
        let problem = read_problem(&folder.write(name, text), None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(rows(&problem.matrix), [[1.5, 2.0], [3.0, 4.0]], "{name}");
    }
    assert_eq!(read_vector(&folder.write("b.txt", "\t1.5\n\t2\n")).unwrap(), [1.5, 2.0]);
    for (text, reason) in [
        (",0,0\n1,2,3\n", "line 1: field 1 is empty, expected a number"),
        (",7.5,2.5\n1,2,3\n4,5,6\n", "line 1: field 1 is empty, expected a number"), // missing, no header
        (",1,\n1,2,3\n", "line 1: field 1 is empty, expected a number"),
        (",1,2\n,3,4\n", "line 1: field 1 is empty, expected a number"),
        ("\t1\t2\n\t3\t4\n", "line 1: field 1 is empty, expected a number"),
        (",x,y\n1,2\n", "line 2: 2 fields, expected 3 as in the header line"),
        (",x,y\n1\n", "line 2: 1 fields, expected 3 as in the header line"),
        (",x\na,1\nb\n", "line 3: 1 fields, expected 2 as in line 2"),
        (",x\na,1\nb,2,3\n", "line 3: 3 fields, expected 2 as in line 2"),
        (",x\na,b\n", "line 2: field 2: expected a number, found 'b'"),
        ("\"x\",\"y\"\n1\n", "line 2: 1 fields, expected 2 as in the header line"),
        ("x,y\na,1,2\n", "line 2: 3 fields, expected 2 as in the header line"),
    ] {
        let message = read_problem(&folder.write("a.csv", text), None).unwrap_err().to_string();
        assert!(message.ends_with(reason), "{text:?} gave: {message}");
    }
}

#[test]
fn numbered_columns_were_read_without_a_word() {
    let folder = Folder::new();
    for (name, text, doubtful) in [
        ("a.csv", "0,1,2\n5,6,7\n", true),
        ("a.tsv", "# c\n0\t1\n5\t6\n", true),
        ("one.csv", "0,1,2\n", false),
        ("b.csv", "0\n1\n", false),
        ("other.csv", "0,1,3\n5,6,7\n", false),
        ("labels.csv", ",0,1\n0,5,6\n", false),
        ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n5\n1\n6\n", false),
    ] {
        let path = folder.write(name, text);
        for transposed in [false, true] {
            let read = if transposed { read_transposed_problem } else { read_problem };
            let matrix = read(&path, None).unwrap().matrix;
            assert_eq!(may_begin_with_header(&path, matrix.view(), transposed), doubtful, "{name}, {transposed}");
        }
    }
}
