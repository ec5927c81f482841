"""What each command looks like when it is used: shown under its `--help`, parsed by a test."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final = {
    "app digest": ("margrave app digest apps/storefront/1.1.0",),
    "app lint": ("margrave app lint apps/",),
    "app list": ("margrave app list", "margrave app list -q store -o name"),
    "app show": ("margrave app show storefront", "margrave app show storefront@1.1.0 -o yaml"),
    "app sync": ("margrave app sync", "margrave app sync apps"),
    "audit list": ("margrave audit list --limit 20",),
    "audit verify": ("margrave audit verify",),
    "completion": ("margrave completion bash",),
    "context list": ("margrave context list",),
    "context remove": ("margrave context remove plant",),
    "context use": ("margrave context use plant",),
    "deploy": (
        "margrave deploy storefront --site harbor --wait",
        "margrave deploy storefront@1.1.0 --site harbor --site depot --set greeting=ahoy",
    ),
    "deployment cancel": ("margrave deployment cancel storefront --site harbor --wait",),
    "deployment create": ("margrave deployment create storefront@1.1.0 --site harbor --name shop",),
    "deployment delete": ("margrave deployment delete storefront --site depot",),
    "deployment explain": ("margrave deployment explain storefront",),
    "deployment history": (
        "margrave deployment history storefront",
        "margrave deployment history storefront --site harbor -o json",
    ),
    "deployment list": (
        "margrave deployment list --site harbor -w",
        "margrave deployment list --outcome rolled-back -o name",
    ),
    "deployment logs": ("margrave deployment logs storefront -f",),
    "deployment plan": (
        "margrave deployment plan storefront@1.1.0 --site harbor",
        "margrave deployment plan storefront --version 1.1.0 --set greeting=ahoy",
    ),
    "deployment release": ("margrave deployment release storefront --site harbor --wait",),
    "deployment retry": ("margrave deployment retry storefront --wait",),
    "deployment rollback": (
        "margrave deployment rollback storefront --wait",
        "margrave deployment rollback storefront --to 1.0.0",
    ),
    "deployment show": ("margrave deployment show storefront -w",),
    "deployment update": (
        "margrave deployment update storefront --version 1.1.0 --wait --timeout 20m",
        "margrave deployment update storefront --set greeting=ahoy --priority urgent --reason fire",
    ),
    "deployment watch": ("margrave deployment watch storefront",),
    "doctor": ("margrave doctor", "margrave doctor --config /etc/margrave/margrave.toml"),
    "lint": (
        "margrave lint deployments/ --format github",
        "margrave lint margo.yaml --fix",
    ),
    "login": (
        "margrave login https://margrave.example --user ann",
        "margrave login https://plant.example --name plant --token-stdin",
    ),
    "node add": (
        "margrave node add --site harbor --identity ~/.ssh/id_ed25519 press-1 192.0.2.17",
        "margrave node add --site harbor --user pi --label zone=shop till-4 192.0.2.44",
    ),
    "node drain": ("margrave node drain press-1",),
    "node list": ("margrave node list --site harbor -w",),
    "node remove": ("margrave node remove --site harbor press-1 --forget",),
    "node show": ("margrave node show harbor/press-1",),
    "node undrain": ("margrave node undrain press-1",),
    "repository accept": ("margrave repository accept --commit 3f9c2d41e5a0",),
    "repository show": ("margrave repository show",),
    "settings": ("margrave settings", "margrave settings --all -o yaml"),
    "site accept": ("margrave site accept harbor --commit 3f9c2d41e5a0",),
    "site add": ("margrave site add harbor --label zone=north --timezone Europe/Oslo",),
    "site list": ("margrave site list -w",),
    "site pause": ("margrave site pause harbor --reason stocktaking --until 2030-01-31T18:00:00Z",),
    "site reload": ("margrave site reload harbor",),
    "site remove": ("margrave site remove harbor",),
    "site resume": ("margrave site resume harbor",),
    "site show": ("margrave site show harbor",),
    "site token create": ("margrave site token create harbor",),
    "site token list": ("margrave site token list harbor",),
    "site token revoke": (
        "margrave site token revoke harbor 2b1f7c1e-8d1c-4f57-9a3e-6a1f0c9d2b11",
    ),
    "source add": (
        "margrave source add apps https://git.example/apps.git --ref main",
        "margrave source add ours ssh://git@git.example/apps.git --credentials forge",
        "margrave source add mine ./apps",
    ),
    "source list": ("margrave source list",),
    "source remove": ("margrave source remove apps",),
    "token create": (
        "margrave token create ci --role operator --site harbor --expires 720h",
        "margrave token create north --role operator --where zone=north",
    ),
    "token list": ("margrave token list",),
    "token revoke": ("margrave token revoke 2b1f7c1e-8d1c-4f57-9a3e-6a1f0c9d2b11",),
    "user add": ("margrave user add ann --role operator --where zone=north",),
    "user change": ("margrave user change ann --role admin",),
    "user list": ("margrave user list",),
    "user remove": ("margrave user remove ann",),
    "version": ("margrave version",),
}
