#!/usr/bin/env python3
"""Prints a Homebrew formula for the archives of a release.

formula.py VERSION FOLDER
"""

import sys
from pathlib import Path

from places import DESCRIPTION, HOME, archives

SYSTEMS = {"darwin": "macos", "linux": "linux"}
PROCESSORS = {"amd64": "intel", "arm64": "arm"}

version, folder = sys.argv[1], Path(sys.argv[2])
print("class GitopsWindows < Formula")
print(f'  desc "{DESCRIPTION}"')
print(f'  homepage "{HOME}"')
print(f'  version "{version}"')
print('  license any_of: ["Apache-2.0", "MIT"]')
for system, processor, address, digest in archives("gitops-windows", version, folder):
    print()
    print(f"  on_{SYSTEMS[system]} do")
    print(f"    on_{PROCESSORS[processor]} do")
    print(f'      url "{address}"')
    print(f'      sha256 "{digest}"')
    print("    end")
    print("  end")
print()
print("  def install")
print('    bin.install "gitops-windows"')
print('    man1.install "man/gitops-windows.1"')
print('    bash_completion.install "completions/gitops-windows.bash" => "gitops-windows"')
print('    zsh_completion.install "completions/gitops-windows.zsh" => "_gitops-windows"')
print('    fish_completion.install "completions/gitops-windows.fish"')
print("  end")
print()
print("  test do")
print('    assert_match version.to_s, shell_output("#{bin}/gitops-windows --version")')
print("  end")
print("end")
