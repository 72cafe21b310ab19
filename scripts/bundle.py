#!/usr/bin/env python3
"""What others wrote of what a release holds: texts of licences and a software bill of materials (CycloneDX).

bundle.py wheel WHEEL BUILD OUT   adds both to a wheel that auditwheel repaired and that was built in BUILD, and writes it to the folder OUT
bundle.py sbom DIST               writes DIST/infermeter-VERSION.cdx.json of the wheels in DIST

Nothing is listed here: libraries are those that auditwheel put in, headers those that the compiler read, the page's packages those of
npm's lock file. The same input gives the same bytes; times are SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
# Of the compiler and the C library: what every program is built with.
COMPILERS = re.compile(r"^(libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev|gcc-\d+|g\+\+-\d+|cpp-\d+)$")


def output(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def debian_component(package, use):
    version, source, source_version = output(
        "dpkg-query", "-W", "-f", "${Version}\n${source:Package}\n${source:Version}\n", package).split("\n")[:3]
    text = licence_of_debian(package)
    names = sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))
    return {
        "type": "library", "name": package, "version": version,
        "purl": f"pkg:deb/debian/{quote(package, safe='')}@{quote(version, safe='')}",
        "bom-ref": f"pkg:deb/debian/{quote(package, safe='')}@{quote(version, safe='')}",
        # As its copyright file names them; the file itself is in the wheel.
        "licenses": [{"license": {"name": name}} for name in names or [f"as {package}.txt among the wheel's licences says"]],
        "properties": [{"name": "infermeter:use", "value": use},
                       {"name": "infermeter:debian-source", "value": f"{source} {source_version}"}],
    }


def licence_of_debian(package):
    file = Path(f"/usr/share/doc/{package}/copyright")
    if not file.is_file():
        sys.exit(f"bundle: there is no {file}: the licence of {package} is not known; reinstall it without dpkg's path-exclude")
    return file.read_text(errors="replace")


def bundled(names):
    """The Debian packages of the libraries that auditwheel put in: libssl-59d05945.so.3 was /usr/lib/…/libssl.so.3."""
    packages = set()
    for name in names:
        folder, _, file = name.partition("/")
        if not folder.endswith(".libs"):
            continue
        original = re.sub(r"-[0-9a-f]{8}\.", ".", file, count=1)
        found = re.findall(rf"^([^:\n]+):[^\n]*: (?:/usr)?/lib/[a-z0-9_-]+/{re.escape(original)}$", output("dpkg-query", "-S", f"*/{original}"), re.MULTILINE)
        if not found:
            sys.exit(f"bundle: no Debian package has {original}, which auditwheel put into the wheel: its licence is not known")
        packages |= set(found)
    return sorted(packages)


def source_of(package):
    return output("dpkg-query", "-W", "-f", "${source:Package}", package)


def compiled_in(build):
    """The Debian packages whose headers the compiler read: libraries that are headers only are in no other list."""
    lines = output("ninja", "-C", build, "-t", "deps").splitlines()
    headers = sorted({os.path.normpath(line.strip()) for line in lines if line.startswith("    /usr/include/")})
    packages = set()
    for first in range(0, len(headers), 500):
        found = subprocess.run(["dpkg-query", "-S", *headers[first:first + 500]], capture_output=True, text=True).stdout
        packages |= {line.split(":")[0] for line in found.splitlines()}
    return sorted(package for package in packages if not COMPILERS.match(package) and not package.startswith("libpython"))


def page_components():
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    for path, package in sorted(packages.items()):
        if path and not package.get("dev") and not package.get("optional"):
            name = path.removeprefix("node_modules/")
            yield ROOT / "web" / path, component("npm", name, package["version"], package.get("license", "?"), "in the script of the HTML report")


def component(kind, name, version, licence, use):
    purl = f"pkg:{kind}/{name}@{version}"
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl, "licenses": [{"license": {"name": licence}}],
            "properties": [{"name": "infermeter:use", "value": use}]}


def bill_of(name, version, purl, components):
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH)),
            "component": {"type": "application", "name": name, "version": version, "purl": purl, "bom-ref": purl,
                          "licenses": [{"license": {"id": "Apache-2.0"}}]},
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def text_of(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def finish_wheel(wheel, build, out):
    with zipfile.ZipFile(wheel) as archive:
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        contents = {name: archive.read(name) for name in infos}
    libraries = bundled(infos)
    modes = {name: 0o755 if info.external_attr >> 16 & 0o100 else 0o644 for name, info in infos.items()}
    (record,) = [name for name in contents if name.endswith(".dist-info/RECORD")]
    folder = record.removesuffix("/RECORD")
    name, version = wheel.name.split("-")[:2]

    licences, components = {}, []
    sources = {source_of(package) for package in libraries}
    headers = [package for package in compiled_in(build) if source_of(package) not in sources]
    for packages, use in ((libraries, "shared library in the wheel"), (headers, "headers that were compiled in")):
        for package in packages:
            components.append(debian_component(package, use))
            licences[f"{package}.txt"] = licence_of_debian(package).encode()
    nanobind = output(sys.executable, "-m", "nanobind", "--version").strip()
    components.append(component("pypi", "nanobind", nanobind, "BSD-3-Clause", "compiled into the Python module"))
    licences["nanobind.txt"] = licence_of_python("nanobind")
    for place, one in page_components():
        components.append(one)
        texts = [file.read_bytes() for file in sorted([*place.glob("*"), *place.glob("licenses/*")])
                 if file.is_file() and re.match(r"(licen[cs]e|notice|copying)", file.name, re.IGNORECASE)]
        licences[f"{one['name'].replace('/', '-')}.txt"] = b"\n\n".join(texts)

    del contents[record]
    contents.pop(f"{folder}/sboms/auditwheel.cdx.json", None)  # says less than ours, and not of all
    for file, text in licences.items():
        contents[f"{folder}/licenses/bundled/{file}"] = text
    contents[f"{folder}/sboms/infermeter.cdx.json"] = text_of(bill_of(name, version, f"pkg:pypi/{name}@{version}", components)).encode()
    metadata = contents[f"{folder}/METADATA"].decode()
    head, _, body = metadata.partition("\n\n")
    head += "".join(f"\nLicense-File: bundled/{file}" for file in sorted(licences))
    contents[f"{folder}/METADATA"] = f"{head}\n\n{body}".encode()
    write_wheel(out / wheel.name, contents, modes, record)


def licence_of_python(package):
    from importlib.metadata import files
    (file,) = [file for file in files(package) if file.name == "LICENSE" and "dist-info" in str(file)]
    return file.locate().read_bytes()


def write_wheel(path, contents, modes, record):
    lines = []
    for name in sorted(contents):
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(contents[name])}\n")
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()
    when = max(time.gmtime(EPOCH)[:6], (1980, 1, 1, 0, 0, 0))
    # What names the package comes last, as the format advises.
    order = sorted(contents, key=lambda name: (".dist-info/" in name, name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in order:
            info = zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100000 | modes.get(name, 0o644)) << 16
            archive.writestr(info, contents[name])


def write_sbom(dist):
    components = {}
    for wheel in sorted(dist.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("/sboms/infermeter.cdx.json")]
            bill = json.loads(archive.read(name))
        components |= {one["purl"]: one for one in bill["components"]}
    if not components:
        sys.exit(f"bundle: there is no wheel in {dist}")
    version = bill["metadata"]["component"]["version"]
    files = [{"type": "file", "name": file.name, "bom-ref": f"file:{file.name}",
              "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]}
             for file in sorted(dist.iterdir()) if file.name.endswith((".whl", ".tar.gz", ".deb"))]
    whole = bill_of("infermeter", version, f"pkg:generic/infermeter@{version}", [*(components[key] for key in sorted(components)), *files])
    (dist / f"infermeter-{version}.cdx.json").write_text(text_of(whole))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["wheel", wheel, build, out]:
            finish_wheel(Path(wheel), Path(build), Path(out))
        case ["sbom", dist]:
            write_sbom(Path(dist))
        case _:
            sys.exit(__doc__)
