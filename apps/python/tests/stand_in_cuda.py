#!/usr/bin/env python3
"""Lets PyPI's torch for CUDA be imported where neither a GPU nor CUDA is: for tests alone.

    pip install --no-deps torch filelock typing_extensions sympy networkx jinja2 fsspec mpmath \\
        markupsafe numpy nvidia-cuda-runtime nvidia-cuda-cupti
    stand_in_cuda.py SITE_PACKAGES

torch is linked with libraries that weigh 2.4 GB. Of each that is not there one is made that has the
functions torch names, under the versions by which they are asked for, and that ends the program
where one is called. What runs on the CPU calls none.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# What a library's functions begin with, by the name of the library up to ".so".
BEGINNINGS = {
    "libcublasLt": ("cublasLt",), "libcublas": ("cublas",), "libcudnn": ("cudnn",),
    "libcufft": ("cufft",), "libcufile": ("cuFile",), "libcusolver": ("cusolver",),
    "libcusparseLt": ("cusparseLt",), "libcusparse": ("cusparse",), "libnvrtc": ("nvrtc",),
    "libnccl": ("nccl",), "libnvshmem_host": ("nvshmem",),
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", output("readelf", "-d", str(library)))


def wanted(library):
    """Functions that a library lacks: name, version or ""."""
    for line in output("nm", "-D", "--undefined-only", str(library)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@")


def owner_of(name, missing):
    found = [(len(beginning), library) for library in missing
             for beginning in BEGINNINGS.get(library.partition(".so")[0], ())
             if name.startswith(beginning)]
    return max(found)[1] if found else None


def make(library, functions, folder):
    """One library of functions by version."""
    with tempfile.TemporaryDirectory() as made:
        source, script = pathlib.Path(made, "all.c"), pathlib.Path(made, "all.map")
        names = sorted(name for group in functions.values() for name in group)
        source.write_text("void abort(void);\n" + "".join(f"void {n}(void) {{ abort(); }}\n" for n in names))
        script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(group))}; }};\n"
                                  for version, group in sorted(functions.items()) if version))
        command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{library}", str(source)]
        if script.stat().st_size:
            command.append(f"-Wl,--version-script,{script}")
        subprocess.run(command + ["-o", str(folder / library)], check=True)


def main(site_packages):
    folder = pathlib.Path(site_packages, "torch", "lib")
    libraries = sorted(folder.glob("lib*.so*"))
    there = {path.name for path in libraries}
    there |= {path.name for path in pathlib.Path(site_packages, "nvidia").glob("*/lib/*.so*")}
    missing = {name for path in libraries for name in needed(path)
               if name.partition(".so")[0] in BEGINNINGS and name not in there}
    functions = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in libraries:
        for name, version in wanted(path):
            library = owner_of(name, missing)
            if library:
                functions[library][version].add(name)
    for library in sorted(missing):
        make(library, functions[library], folder)
        print(f"{library}: {sum(len(group) for group in functions[library].values())} functions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
