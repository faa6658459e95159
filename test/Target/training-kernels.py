#!/usr/bin/env python3
"""Writes three kernels of a Stories110M layer as people write them who train on
the engine (one input, one output, taps joined along channels, a weight file for
each array), which ran on M3 Ultra, M4 and M5: `anec check` finds no error in
them there. Then it sets each known trap in the first, and looks for the rule.

usage: training-kernels.py ANEC FOLDER"""
import json
import pathlib
import re
import subprocess
import sys

D, S, HEADS = 768, 256, 12
RAN_ON = ["m3-ultra", "m4", "m5"]


def shape(*extents):
    return "[" + ", ".join(map(str, extents)) + "]"


class Kernel:
    def __init__(self, channels):
        self.channels, self.lines, self.count = channels, [], 0

    def add(self, text):
        self.lines.append("        " + text)

    def const(self, kind, name, value):
        self.add(f'{kind} {name} = const()[name = string("{name}"), '
                 f"val = {kind}({value})];")

    def blob(self, name, *extents):
        kind = f"tensor<fp16, {shape(*extents)}>"
        self.add(f'{kind} {name} = const()[name = string("{name}"), val = {kind}'
                 f'(BLOBFILE(path = string("@model_path/weights/{name}.bin"), '
                 "offset = uint64(64)))];")

    def op(self, name, extents, call):
        self.count += 1
        self.add(f"tensor<fp16, {shape(*extents)}> {name} = {call}"
                 f'[name = string("op{self.count}")];')

    def constants(self):
        self.const("string", "pt", '"valid"')
        self.const("tensor<int32, [2]>", "st", "[1,1]")
        self.const("tensor<int32, [4]>", "pd", "[0,0,0,0]")
        self.const("tensor<int32, [2]>", "dl", "[1,1]")
        self.const("int32", "gr", "1")
        self.const("bool", "bF", "false")
        self.const("bool", "bT", "true")
        self.const("int32", "cax", "1")
        self.const("tensor<int32, [4]>", "hs", f"[1,{HEADS},{D // HEADS},{S}]")
        self.const("tensor<int32, [4]>", "pm", "[0,1,3,2]")
        self.const("tensor<int32, [4]>", "flat", f"[1,{D},1,{S}]")
        self.const("fp16", "sc", "0.125")
        self.const("int32", "sax", "-1")
        self.blob("mask", 1, 1, S, S)

    def conv(self, name, weight, x, out=D):
        self.op(name, (1, out, 1, S), f"conv(dilations=dl,groups=gr,pad=pd,"
                f"pad_type=pt,strides=st,weight={weight},x={x})")

    def heads(self, name, x):
        self.op(name + "4", (1, HEADS, D // HEADS, S), f"reshape(shape=hs,x={x})")
        self.op(name, (1, HEADS, S, D // HEADS), f"transpose(perm=pm,x={name}4)")

    def slice(self, name, channel):
        self.const("tensor<int32, [4]>", f"b_{name}", f"[0,{channel},0,0]")
        self.const("tensor<int32, [4]>", f"s_{name}", f"[1,{D},1,{S}]")
        self.op(name, (1, D, 1, S),
                f"slice_by_size(x=x,begin=b_{name},size=s_{name})")

    def probabilities(self, q, k):
        self.op("sc1", (1, HEADS, S, S),
                f"matmul(transpose_x=bF,transpose_y=bT,x={q},y={k})")
        self.op("sc2", (1, HEADS, S, S), "mul(x=sc1,y=sc)")
        self.op("ms", (1, HEADS, S, S), "add(x=sc2,y=mask)")
        self.op("aw", (1, HEADS, S, S), "softmax(axis=sax,x=ms)")

    def text(self, results="out"):
        build = ", ".join(f'{{"{key}", "{value}"}}' for key, value in (
            ("coremlc-component-MIL", "3510.2.1"), ("coremlc-version", "3505.4.1"),
            ("coremltools-component-milinternal", ""), ("coremltools-version", "9.0")))
        return "\n".join([
            "program(1.3)", f"[buildInfo = dict<string, string>({{{build}}})]", "{",
            f"    func main<ios18>(tensor<fp16, {shape(1, self.channels, 1, S)}> x) {{",
            *self.lines, f"    }} -> ({results});", "}", ""])


def forward_attention():
    k = Kernel(D)
    k.constants()
    k.const("tensor<int32, [1]>", "rax", "[1]")
    k.const("bool", "kd", "true")
    k.const("fp16", "invd", "0.001302")
    k.const("fp16", "eps", "0.00001")
    k.const("fp16", "nhalf", "-0.5")
    k.const("bool", "cid", "false")
    k.blob("rms1", 1, D, 1, 1)
    for weight in ("wq", "wk", "wv", "wo"):
        k.blob(weight, D, D, 1, 1)
    k.op("sq", (1, D, 1, S), "mul(x=x,y=x)")
    k.op("ss", (1, 1, 1, S), "reduce_sum(x=sq,axes=rax,keep_dims=kd)")
    k.op("ss2", (1, 1, 1, S), "mul(x=ss,y=invd)")
    k.op("ss3", (1, 1, 1, S), "add(x=ss2,y=eps)")
    k.op("rrms", (1, 1, 1, S), "pow(x=ss3,y=nhalf)")
    k.op("xr", (1, D, 1, S), "mul(x=x,y=rrms)")
    k.op("xn", (1, D, 1, S), "mul(x=xr,y=rms1)")
    for name in "qkv":
        k.conv(name + "f", "w" + name, "xn")
        k.heads(name, name + "f")
    k.probabilities("q", "k")
    k.op("a4", (1, HEADS, S, D // HEADS),
         "matmul(transpose_x=bF,transpose_y=bF,x=aw,y=v)")
    k.op("at", (1, HEADS, D // HEADS, S), "transpose(perm=pm,x=a4)")
    k.op("af", (1, D, 1, S), "reshape(shape=flat,x=at)")
    k.conv("oo", "wo", "af")
    k.op("out", (1, 6 * D, 1, S),
         "concat(axis=cax,interleave=cid,values=(oo,qf,kf,vf,af,xn))")
    return k


def backward_scores():
    k = Kernel(4 * D)
    k.constants()
    k.const("bool", "cid", "false")
    k.const("tensor<int32, [4]>", "rows", f"[1,{HEADS * S},1,{S}]")
    k.blob("wot", D, D, 1, 1)
    for index, name in enumerate(("qf", "kf", "vf", "dx2")):
        k.slice(name, index * D)
    k.conv("df", "wot", "dx2")
    for name, source in (("q", "qf"), ("k", "kf"), ("v", "vf"), ("da", "df")):
        k.heads(name, source)
    k.probabilities("q", "k")
    k.op("dv4", (1, HEADS, S, D // HEADS),
         "matmul(transpose_x=bT,transpose_y=bF,x=aw,y=da)")
    k.op("dp4", (1, HEADS, S, S), "matmul(transpose_x=bF,transpose_y=bT,x=da,y=v)")
    k.op("dvt", (1, HEADS, D // HEADS, S), "transpose(perm=pm,x=dv4)")
    k.op("dvf", (1, D, 1, S), "reshape(shape=flat,x=dvt)")
    k.op("pf", (1, HEADS * S, 1, S), "reshape(shape=rows,x=aw)")
    k.op("dpf", (1, HEADS * S, 1, S), "reshape(shape=rows,x=dp4)")
    k.op("out", (1, D + 2 * HEADS * S, 1, S),
         "concat(axis=cax,interleave=cid,values=(dvf,pf,dpf))")
    return k


def backward_projections():
    k = Kernel(3 * D)
    k.constants()
    for index, name in enumerate(("dq", "dk", "dv")):
        k.blob("w" + name, D, D, 1, 1)
        k.slice(name, index * D)
        k.conv("x" + name, "w" + name, name)
    k.op("sum", (1, D, 1, S), "add(x=xdq,y=xdk)")
    k.op("out", (1, D, 1, S), "add(x=sum,y=xdv)")
    return k


def traps():
    """(what it is, the chip, the rule, the program)."""
    def changed(old, new):
        text = forward_attention().text()
        assert old in text, old
        return text.replace(old, new)

    more = forward_attention()
    for index in range(12):
        more.blob(f"more{index}", 1, D, 1, 1)
    yield "17 weight files", "m4", "weight-files", more.text()
    fp32 = changed(f"(tensor<fp16, {shape(1, D, 1, S)}> x) {{", "\n".join([
        f"(tensor<fp32, {shape(1, D, 1, S)}> x32) {{",
        '        string half = const()[name = string("half"), val = string("fp16")];',
        f"        tensor<fp16, {shape(1, D, 1, S)}> x = cast(dtype = half, x = x32)"
        '[name = string("cast")];']))
    yield "fp32 inputs", "m1", "io-fp32", fp32
    yield ("an untyped literal", "m4", "untyped-literal",
           changed("axis=sax,x=ms", "axis=-1,x=ms"))
    yield ("concat without interleave", "m4", "concat-interleave",
           changed("interleave=cid,", ""))
    yield ("gelu without a mode", "m4", "gelu-mode",
           changed("mul(x=xr,y=rms1)", "gelu(x=xr)"))
    yield ("rsqrt without epsilon", "m4", "rsqrt-epsilon",
           changed("pow(x=ss3,y=nhalf)", "rsqrt(x=ss3)"))
    yield ("attention with a mask", "m4", "attention-mask",
           changed("matmul(transpose_x=bF,transpose_y=bF,x=aw,y=v)",
                   "scaled_dot_product_attention(query=q,key=k,value=v,"
                   "attn_mask=mask)"))
    yield ("16 positions", "m4", "io-row-64",
           re.sub(rf"\b{S}\b(?=[\],])", "16", forward_attention().text()))
    several = forward_attention()
    yield ("outputs that are sorted another way", "m4", "io-output-order",
           several.text("oo, kf"))


def findings(anec, folder, name, text, target):
    path = folder / f"{name}.mil"
    path.write_text(text)
    done = subprocess.run([anec, "check", str(path), f"--target={target}",
                           "--format=json"], text=True, stdout=subprocess.PIPE)
    report = json.loads(done.stdout)
    unread = [f"{said['id']}: {said['message']}" for said in report["diagnostics"]
              if said["severity"] == "error"]
    return report["findings"], unread


def main(anec, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    problems = 0
    for kernel in (forward_attention, backward_scores, backward_projections):
        for target in RAN_ON:
            found, unread = findings(anec, folder, kernel.__name__,
                                     kernel().text(), target)
            errors = [f"{f['rule']}: {f['message']}" for f in found
                      if f["severity"] == "error"] + unread
            problems += bool(errors)
            print(f"{kernel.__name__}, {kernel().count} ops, on {target}: "
                  f"{'; '.join(errors) or 'no error'}")
    for what, target, rule, text in traps():
        found, _ = findings(anec, folder, rule, text, target)
        lines = [f"line {f['line']}: {f['message']}" for f in found
                 if f["rule"] == rule
                 and (f["severity"] != "remark" or f["impact"] == "layout")]
        problems += not lines
        print(f"{what} on {target}: {lines[0] if lines else 'NOT FOUND'} [{rule}]")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
