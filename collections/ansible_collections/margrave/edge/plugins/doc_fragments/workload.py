# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parameters and return values that the workload modules share."""

from __future__ import annotations


class ModuleDocFragment:
    """Fence, content and guard."""

    DOCUMENTATION = r"""
requirements:
  - Python 3.9
  - For V(compose), podman with its API socket or Docker Engine, and Docker Compose 2.17 or newer
  - For V(helm), Kubernetes with C(kubectl), and Helm 3.13 or newer
options:
  deployment:
    description: Id of the deployment, a UUID; the same over all its versions.
    type: str
    required: true
  fence:
    description:
      - Which runner calls, and which of its calls this is.
      - An older call than the node has seen is refused, the same one gets the result it had.
      - After a power cut the same one may be done once more instead, and finds itself done.
      - Without it the module works only on a node that no runner claimed, or with O(force=true).
    type: dict
    suboptions:
      runner:
        description: Id of the runner, a UUID.
        type: str
        required: true
      epoch:
        description: Rises by one at each take-over of the site.
        type: int
        required: true
      seq:
        description: Rises by one with each attempt of any kind.
        type: int
        required: true
  force:
    description: Work without O(fence) on a node that belongs to a runner; noted in the journal.
    type: bool
    default: false
  request_id:
    description: Id of this call, as whoever calls counts them; noted in the journal.
    type: str
  trace:
    description:
      - Id of the request that led to this call, by which it can be followed; noted in the journal.
      - Letters, digits and C(._:-), 128 at most.
    type: str
  deadline:
    description:
      - Seconds after which the call ends at its next safe point, also when nobody listens any more.
      - The next call finishes or undoes what it began. Going back and deleting end in their time.
    type: int
  arguments_from:
    description:
      - A folder where Ansible runs; C(<inventory_hostname>.json) in it holds parameters of the
        task, those that are required too.
      - Or a file there with a line for each host, which is its name, a tab and a JSON object.
      - A relative one is taken from the play's folder, never from a role.
      - They are taken as they stand there; nothing in them is a template, whatever it looks like.
      - They go before what the task says beside.
    type: path
"""

    CONTENT = r"""
options:
  name:
    description: The deployment's name.
    type: str
    required: true
  application:
    description: Id of the application.
    type: str
    required: true
  version:
    description: The application's version, for people.
    type: str
  revision:
    description:
      - C(sha256:) and 64 digits over what is to run, where somebody else counts revisions.
      - Computed from application, profile, namespace and O(components) when it is left out.
      - One that ran here with other content, values or namespace is refused without O(release).
    type: str
  release:
    description:
      - 64 hexadecimal digits over the revision and the secrets in use.
      - Derived from O(revision) when it is left out.
    type: str
  profile:
    description:
      - What the components are.
      - A deployment keeps its profile for life; another one is refused.
    type: str
    choices: [compose, helm]
    default: compose
  namespace:
    description: Kubernetes' namespace of V(helm) components, made when it is not there.
    type: str
    default: default
  adopt:
    description:
      - Take over what stands in the way though it is not the deployment's own.
      - With V(compose), containers of the names that a service claims with C(container_name).
        They are stopped and kept aside until the release is healthy, and come back when it is not.
      - With V(helm), objects of the names that the chart has; needs Helm 3.17.
      - Without it such a call fails and touches none of them.
    type: bool
    default: false
  secrets:
    description:
      - Texts that no answer, no journal and no log on the node may repeat.
      - When left out, what looks like a secret in O(components[].variables) and
        O(components[].values).
      - That is each value whose name has a word such as V(password), V(secret), V(token), V(key),
        V(credential), V(private) or V(auth).
      - It is also each password inside an address or a connection string, and each private key.
      - One with less than four characters is not masked.
    type: list
    elements: str
  components:
    description: What is to run, in this order.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The component's name.
        type: str
        required: true
      src:
        description:
          - Folder on the controller's side with the component's content.
          - A relative one is looked for as other files are, in C(files/) of the role and beside the
            play first.
          - Has C(compose.yaml) at its root, or C(Chart.yaml) with O(profile=helm).
        type: path
      archive:
        description: The content as it travels; filled from O(components[].src).
        type: str
      digest:
        description:
          - Digest of the content's canonical archive, checked on both sides.
          - Computed when left out.
          - With O(components[].repository), of the chart's file.
        type: str
      repository:
        description:
          - With O(profile=helm), the chart in an OCI registry, as C(oci://HOST/PATH).
          - In place of O(components[].src).
        type: str
      revision:
        description: The chart's version in O(components[].repository).
        type: str
      variables:
        description: Variables for the interpolation of C(compose.yaml), taken literally.
        type: dict
        default: {}
      values:
        description:
          - With O(profile=helm), values by dotted path, typed, as in C(web.replicas).
          - A dot in a key has a backslash before it; an item of a list is C([0]).
        type: dict
        default: {}
      timeout:
        description: Seconds from start to healthy; O(health.timeout) when left out.
        type: int
"""

    GUARD = r"""
options:
  health:
    description: When a workload counts as healthy.
    type: dict
    suboptions:
      timeout:
        description: Seconds from start to healthy for components without a time of their own.
        type: int
        default: 60
      grace:
        description: Seconds that a container without a health check must have been running.
        type: int
        default: 5
  proven:
    description:
      - The release that is known to have stayed healthy, as the caller has watched it.
      - It alone becomes the previous release, and what runs instead is gone back to only while it
        is undisturbed.
      - Empty where no release is known to be so. Left out, what runs when the call begins counts.
    type: str
  prove:
    description:
      - Seconds. The release runs, and was found unstable.
      - It is made to run again, and has to stay healthy for so long without a restart.
      - Needs O(proven), the release that is gone back to when it fails.
    type: int
    default: 0
  policy:
    description:
      - How far the application may reach into the node.
      - Checked on the resolved Compose model, or on what the chart renders.
    type: dict
    suboptions:
      privileged:
        description:
          - Privileged containers, unconfined ones, all capabilities, runtimes of their own.
          - Kernel settings of the node, other logging drivers, shared and relabelled mounts.
          - Kinds of objects and rights in charts that may reach beyond their namespace.
        type: str
        choices: [allow, deny]
        default: deny
      host_paths:
        description:
          - Folders of the node that may be mounted.
          - C(volume:NAME) and C(network:NAME) for those of others.
        type: list
        elements: str
        default: []
      devices:
        description: Devices of the node that may be used; patterns.
        type: list
        elements: str
        default: []
      host_namespaces:
        description: Network, process and other namespaces of the node, and networks of others.
        type: str
        choices: [allow, deny]
        default: deny
      capabilities:
        description: Capabilities that may be added.
        type: list
        elements: str
        default: []
      registries:
        description: Registries that images may come from; patterns.
        type: list
        elements: str
        default: ["*"]
  registries:
    description: Logins for registries; they are sent with the pull and stored nowhere.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: The registry as image names have it.
        type: str
        required: true
      username:
        description: The user.
        type: str
        default: ""
      password:
        description: The password.
        type: str
        default: ""
      insecure:
        description:
          - Fetch charts from it over plain HTTP.
          - Whether images may come so is said in the container engine's own settings.
        type: bool
        default: false
"""
