"""Writes the texts of extreme.test into a folder."""
import pathlib
import sys

DEPTH = 10000
BEGIN = "program(1.3){func main<ios18>(tensor<fp16, [1]> x){"
END = "}->(x);}\n"
nested = lambda begin, inner, end: begin * DEPTH + inner + end * DEPTH
texts = {
    "nul": BEGIN[:13] + "\0" + BEGIN[13:] + END,
    "zeros": "\0" * 4096,
    "types": BEGIN + nested("tuple<", "fp16", ">") + " a = relu(x = x);" + END,
    "values": BEGIN + "tensor<fp16, [1]> a = relu(x = list<fp16, 1>("
              + nested("[", "1", "]") + "));" + END,
    "attributes": BEGIN + "tensor<fp16, [1]> a = relu(x = x)[a = list<fp16, 1>("
                  + nested("(", "1", ")") + ")];" + END,
    "lists": BEGIN + "tensor<fp16, [1]> a = const()[val = tensor<fp16, [1]>("
             + nested("[", "1", "]") + ")];" + END,
    "blocks": BEGIN + nested("tensor<fp16, [1]> a = cond(p = x){", "",
                             "} -> (a);") + END,
    "calls": BEGIN + "tensor<fp16, [1]> a = "
             + nested("relu(x = ", "x", ")") + ";" + END,
    "parentheses": BEGIN + "tensor<fp16, [1]> a = relu(x = "
                   + nested("(", "x", ")") + ");" + END,
    "string": BEGIN + 'string a = const()[val = string("' + "a" * 2**20,
    "name": BEGIN + "tensor<fp16, [1]> a = relu(x = " + "a" * 2**20 + ");" + END,
}

for name, text in texts.items():
    pathlib.Path(sys.argv[1], name + ".mil").write_text(text)
