#!/usr/bin/env python3
"""Prints the entry of flux's catalog of plugins for the archives of a release.

flux_plugin.py VERSION FOLDER

The fields are those of flux2 v2.9, pkg/plugin/types.go, as the catalog's schema (fluxcd/plugins,
schemas/plugin-cli-v1beta1.json) allows them: it has no `extractPath`, so the archive holds the file `bin`.
"""

import sys
from pathlib import Path

from places import DESCRIPTION, HOME, archives

version, folder = sys.argv[1], Path(sys.argv[2])
print("apiVersion: cli.fluxcd.io/v1beta1")
print("kind: Plugin")
print("name: windows")
print(f"description: {DESCRIPTION}")
print(f"homepage: {HOME}")
print(f"source: {HOME}")
print("bin: flux-windows")
print("versions:")
print(f"  - version: {version}")
print("    platforms:")
for system, processor, address, digest in archives("flux-windows", version, folder):
    print(f"      - os: {system}")
    print(f"        arch: {processor}")
    print(f"        url: {address}")
    print(f"        checksum: sha256:{digest}")
