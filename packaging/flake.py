#!/usr/bin/env python3
"""Prints a Nix flake for the archives of a release: `nix run` and `nix profile install` need no compiler then.

flake.py VERSION FOLDER
"""

import sys
from pathlib import Path

from places import DESCRIPTION, HOME, archives

PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}

version, folder = sys.argv[1], Path(sys.argv[2])
print("{")
print(f'  description = "{DESCRIPTION}";')
print('  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";')
print("  outputs = { self, nixpkgs }: {")
print("    packages = builtins.mapAttrs (system: archive:")
print("      let pkgs = nixpkgs.legacyPackages.${system}; in {")
print("        default = pkgs.stdenvNoCC.mkDerivation {")
print('          pname = "gitops-windows";')
print(f'          version = "{version}";')
print("          src = pkgs.fetchurl archive;")
print('          sourceRoot = ".";')
print("          nativeBuildInputs = [ pkgs.installShellFiles ];")
print("          installPhase = ''")
print("            install -Dm755 gitops-windows $out/bin/gitops-windows")
print("            installManPage man/gitops-windows.1")
print("            installShellCompletion completions/gitops-windows.{bash,zsh,fish}")
print("          '';")
print("          meta = {")
print(f'            homepage = "{HOME}";')
print("            license = with pkgs.lib.licenses; [ asl20 mit ];")
print('            mainProgram = "gitops-windows";')
print("          };")
print("        };")
print("      }) {")
for system, processor, address, digest in archives("gitops-windows", version, folder):
    print(f'      "{PROCESSORS[processor]}-{system}" = {{')
    print(f'        url = "{address}";')
    print(f'        sha256 = "{digest}";')
    print("      };")
print("    };")
print("  };")
print("}")
