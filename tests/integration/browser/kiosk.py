"""An application with a parameter of each kind and no port of the host: many fit on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
COMPOSE = """\
services:
  kiosk:
    image: registry.margrave.lab:5000/web:1
    environment:
      GREETING: ${GREETING}
      SCREENS: ${SCREENS}
      NIGHT: ${NIGHT}
      THEME: ${THEME}
      HOSTS: ${HOSTS}
"""
MARGO = """\
apiVersion: v1
id: kiosk
metadata:
  name: Kiosk
  description: A screen at the door that greets whoever comes in.
  version: VERSION
  catalog:
    organization:
      - name: Margrave tests
deploymentProfiles:
  - type: compose
    id: kiosk-compose
    description: One container on one node.
    components:
      - name: kiosk
        properties:
          repository: oci://registry.margrave.lab:5000/apps/kiosk
          revision: VERSION
          wait: true
          timeout: 1m0s
        x-margrave-extensions:
          path: ./compose
parameters:
  greeting: {value: hello, targets: [{pointer: GREETING, components: [kiosk]}]}
  screens: {value: 2, targets: [{pointer: SCREENS, components: [kiosk]}]}
  night: {value: false, targets: [{pointer: NIGHT, components: [kiosk]}]}
  theme: {value: plain, targets: [{pointer: THEME, components: [kiosk]}]}
  hosts: {value: [a.example], targets: [{pointer: HOSTS, components: [kiosk]}]}
configuration:
  sections:
    - name: What it shows
      settings:
        - parameter: greeting
          name: Greeting
          description: What the screen says to whoever comes in.
          schema: shortText
        - parameter: theme
          name: Theme
          schema: theme
    - name: How it runs
      settings:
        - parameter: screens
          name: Screens
          description: How many hang at the door.
          schema: few
        - parameter: night
          name: Goes on at night
          schema: yesNo
        - parameter: hosts
          name: Hosts
          description: Where its pictures come from.
          schema: hosts
  schema:
    - {name: shortText, dataType: string, minLength: 1, maxLength: 40}
    - {name: few, dataType: integer, minValue: 1, maxValue: 8}
    - {name: yesNo, dataType: boolean}
    - {name: theme, dataType: string, options: [plain, harbour, night]}
    - {name: hosts, dataType: "array[string]"}
"""


def write(folder: Path) -> Path:
    """The packages of all versions in a folder."""
    for version in VERSIONS:
        package = folder / version
        (package / "compose").mkdir(parents=True)
        (package / "margo.yaml").write_text(MARGO.replace("VERSION", version))
        (package / "compose/compose.yaml").write_text(COMPOSE)
    return folder
