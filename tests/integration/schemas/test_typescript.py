"""TypeScript's own compiler takes the types, and refuses what they are there to refuse."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.schemas.conftest import Install

TYPES = Path(__file__).parents[3] / "schemas" / "margrave.d.ts"
PACKAGE = "typescript@5.9"

PROGRAM = """\
import type { ApplicationDeployment, OperationError } from "./margrave";
import type { PlacementResource, Site, State } from "./margrave";

const deployment: ApplicationDeployment = {
  id: "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  metadata: { name: "web", namespace: "default", deviceId: "harbor/*" },
  spec: {
    applicationId: "web",
    deploymentProfile: {
      type: "compose",
      components: [{ name: "web", properties: { repository: "oci://r/web", revision: "1.0.0" } }],
      "x-acme-extensions": { anything: 1 },
    },
    "x-margrave-extensions": { strategy: { batch: "50%" }, placement: { nodes: ["harbor-1"] } },
  },
};

// @ts-expect-error no such key
const nameless: Site[] = [{ labels: {} }, { lables: {} }];

// @ts-expect-error no such state
const state: State = "INSTALED";

export function told(placement: PlacementResource): string {
  const error: OperationError | null = placement.error;
  // @ts-expect-error it may be null
  const words: string = placement.reason;
  return error === null ? placement.state : error.class + error.cure + words;
}

console.log(deployment.id, nameless, state);
"""


@pytest.mark.full
def test_the_compiler_takes_the_types(install: Install, tmp_path: Path) -> None:
    """Strictly, together with a program that uses them rightly and, where it says so, wrongly."""
    shutil.copy(TYPES, tmp_path / "margrave.d.ts")
    (tmp_path / "program.ts").write_text(PROGRAM)
    compiler = install(PACKAGE, "tsc")
    words = ["--strict", "--noEmit", "--skipLibCheck", "false", "--target", "es2022"]

    done = subprocess.run(
        [str(compiler), *words, "--module", "nodenext", "program.ts", "margrave.d.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (done.returncode, done.stdout) == (0, "")
