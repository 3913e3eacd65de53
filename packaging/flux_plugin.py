#!/usr/bin/env python3
"""Prints the entry of flux's catalog of plugins for the archives of a release, or fails where the catalog would refuse it.

flux_plugin.py VERSION FOLDER

The fields are those of flux2 v2.9, pkg/plugin/types.go, as the catalog's schema (fluxcd/plugins,
schemas/plugin-cli-v1beta1.json, commit b8c6437e) allows them: each of them is required and there is no other. It has no
`extractPath`, so the archive holds the file `bin`.
"""

import re
import sys
from pathlib import Path

from places import DESCRIPTION, HOME, archives

# What that schema asks of each value.
NAME = r"[a-z][a-z0-9-]*"
TEXT = r".+"
ADDRESS = r"https://\S+"
VERSION = r"[0-9]+\.[0-9]+\.[0-9]+(-.+)?"
SYSTEM = r"darwin|linux|windows"
PROCESSOR = r"amd64|arm64"
SUM = r"sha256:[a-f0-9]{64}"


def line(key, value, rule, indent=""):
    """Prints a field, whose value must follow its rule and read as that text in YAML."""
    if not re.fullmatch(rule, value):
        sys.exit(f"the catalog of flux refuses {key} {value!r}: it asks for {rule}")
    if re.search(r": |\s#|^[\s\"'\[\]{}>|*&!%#`@,?-]|[\n\r]|\s$", value):
        sys.exit(f"{key} {value!r} needs quotes in YAML")
    print(f"{indent}{key}: {value}")


version, folder = sys.argv[1], Path(sys.argv[2])
packed = list(archives("flux-windows", version, folder))
if not packed:
    sys.exit(f"{folder} holds no archive of the plugin, and the catalog asks for one")
line("apiVersion", "cli.fluxcd.io/v1beta1", re.escape("cli.fluxcd.io/v1beta1"))
line("kind", "Plugin", "Plugin")
line("name", "windows", NAME)
line("description", DESCRIPTION, TEXT)
line("homepage", HOME, ADDRESS)
line("source", HOME, ADDRESS)
line("bin", "flux-windows", NAME)
print("versions:")
line("version", version, VERSION, "  - ")
print("    platforms:")
for system, processor, address, digest in packed:
    line("os", system, SYSTEM, "      - ")
    line("arch", processor, PROCESSOR, "        ")
    line("url", address, ADDRESS, "        ")
    line("checksum", f"sha256:{digest}", SUM, "        ")
