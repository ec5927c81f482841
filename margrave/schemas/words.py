"""What an editor says beside a key, by `Class.key`, or `schema Class.key` where they differ.

Parts have a sentence of their own (their class's); a test asks for one of each key without a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SCHEMAS: Final = {
    "application-deployment": "A deployment at a site (Margo 1.0.0-rc.3, with our additions).",
    "application-description": "An application's description, margo.yaml (Margo 1.0.0-rc.3).",
    "margo-capabilities": "What a device can do, as it tells its fleet manager (Margo).",
    "margo-manifest": "What a client is to run, each document by its digest (Margo).",
    "margo-problem": "An answer of Margo's API that is no success (RFC 9457).",
    "margo-status": "How a deployment fares, in Margo's six states.",
    "margo-trust-bundle": "The anchors of a trust domain (a SPIFFE bundle).",
    "site": "A site's own document, sites/<site>.yaml; each key is optional.",
    "x-margrave-extensions": "Our additions to a deployment: how, when and where, never what.",
}

_DEPLOYMENT: Final = {
    "DeploymentPart.id": "The deployment's UUID: the same over its versions, and its file name.",
    "application-deployment Metadata.name": "The deployment's name, unique at its site.",
    "Metadata.namespace": "Helm's namespace; Compose ignores it.",
    "Metadata.deviceId": "<site>/* (the runner places it) or <site>/<node>.",
    "Metadata.labels": "Labels of the deployment itself.",
    "Spec.applicationId": "The id of the application, as in its margo.yaml.",
    "Spec.parameters": "Values by name, each with where it goes.",
    "ProfilePart.x-margrave-extensions": "Nothing of ours stands here yet.",
    "Source.source": "components/<digest> when Git holds the component's content.",
    "ParameterPart.value": "The value; secret://NAME is resolved at the site.",
}

_BOTH: Final = {
    "ProfilePart.type": "What runs it: compose, helm or something of the device's own.",
    "ProfilePart.components": "The components, in the order in which they start.",
    "ComponentPart.name": "The component's name, unique in its profile.",
    "ComponentProperties.repository": "An OCI repository; identity only when Git has the content.",
    "ComponentProperties.revision": "The component's own version, without a v.",
    "ComponentProperties.wait": "Whether the next component waits until this one is healthy.",
    "ComponentProperties.timeout": "From start to healthy, as minutes and seconds: 5m0s.",
    "Properties.repository": "An OCI repository; identity only when the package has the content.",
    "Properties.revision": "The component's own version, without a v.",
    "Properties.wait": "Whether the next component waits until this one is healthy.",
    "Properties.timeout": "From start to healthy, as minutes and seconds: 5m0s.",
    "Target.pointer": "For Compose a variable's name, for Helm a dotted path of values.",
    "Target.components": "Names of the components that get the value.",
    "CapacityRequirements.memory": "At least this much, as 512Mi or 2Gi.",
    "CapacityRequirements.storage": "At least this much, as 10Gi.",
    "CpuRequirement.cores": "At least so many of one processor.",
    "CpuRequirement.architectures": "Any of these; none means any at all.",
    "Expression.key": "A property or label of the device.",
    "Expression.operator": "How key and values are compared.",
    "Expression.values": "What is compared with; Exists and DoesNotExist have none.",
    "Expression.itemSelector": "What an item of the list has to satisfy.",
}

_DESCRIPTION: Final = {
    "DescriptionPart.apiVersion": "v1.",
    "DescriptionPart.id": "The application's id, the same over its versions.",
    "DescriptionPart.parameters": "Parameters by name: a default each, and where the value goes.",
    "application-description Metadata.name": "The application's name as people read it.",
    "Metadata.version": "The version of this package, without a v.",
    "Metadata.description": "What it does, in a sentence or two.",
    "Organization.name": "Its name.",
    "Organization.site": "Its page on the web.",
    "Author.name": "Who wrote it.",
    "Author.email": "Where the author reads mail.",
    "ApplicationCatalog.descriptionFile": "A file of the package that tells more.",
    "ApplicationCatalog.icon": "A picture in the package.",
    "ApplicationCatalog.licenseFile": "The licence in the package.",
    "ApplicationCatalog.releaseNotes": "What is new, as a file of the package.",
    "ApplicationCatalog.site": "The application's page on the web.",
    "ApplicationCatalog.tagline": "What it does, in half a sentence.",
    "ApplicationCatalog.tags": "Words to find it by.",
    "Path.path": "The component's folder in this package, such as ./compose.",
    "ProfilePart.id": "The profile's id, unique in this description.",
    "ProfilePart.description": "When to choose this profile.",
    "application-description ParameterPart.value": "The default.",
    "Section.name": "A heading.",
    "Setting.parameter": "The parameter that is asked for.",
    "Setting.name": "How the parameter is called when people are asked.",
    "Setting.schema": "The schema that the value has to satisfy.",
    "Setting.description": "What the value is for.",
    "Setting.immutable": "Whether it stays as it was at the first install.",
    "Schema.name": "How settings name this schema.",
    "Schema.dataType": "What kind of value it is.",
    "Schema.allowEmpty": "Whether no value is a value.",
    "Schema.minLength": "The fewest characters.",
    "Schema.maxLength": "The most characters.",
    "Schema.regexMatch": "A regular expression that the text contains.",
    "Schema.minValue": "The smallest number.",
    "Schema.maxValue": "The largest number.",
    "Schema.minPrecision": "The fewest decimal places.",
    "Schema.maxPrecision": "The most decimal places.",
    "Schema.multiselect": "Whether several options may be chosen.",
    "Schema.options": "What may be chosen.",
}

_OURS: Final = {
    "Extensions.version": "The application's version; the controller writes it.",
    "Extensions.drift": "What follows when a node differs from what is wanted.",
    "Extensions.windows": "When work may start, beside the site's own windows; none: always.",
    "Extensions.priority": "Whose turn comes first; urgent passes closed windows, with a reason.",
    "Extensions.reason": "Why it is urgent; kept in the history.",
    "Extensions.requires": "Deployments that have to be healthy at the site first.",
    "Placement.nodes": "all that fit, a number of them, or these.",
    "Placement.move": "Whether a drain may move one that has named volumes.",
    "Strategy.update": "Whether the old stops first; auto is what the engine does best.",
    "Strategy.batch": "How many nodes at once: all, canary (one, then the rest), 3 or 20%.",
    "Failure.retries": "Retries by class of error, over the defaults.",
    "Failure.backoff": "The wait before the first retry; it grows.",
    "Failure.then": "What follows when an update's retries are spent.",
    "Health.timeout": "From start to healthy; over the components' timeouts when written.",
    "Health.grace": "How long a container without a health check has to run.",
    "Health.stable": "How long it has to stay healthy after that, to be gone back to; 0s: not.",
    "Window.cron": "When it opens: minute hour day month weekday.",
    "Window.duration": "How long it stays open, as 2h.",
    "Window.timezone": "The zone of cron; the site's when absent.",
    "LabelExpression.key": "A label's name.",
    "LabelExpression.operator": "How the label is compared.",
    "LabelExpression.values": "What it is compared with; Exists and DoesNotExist have none.",
    "LabelSelector.matchLabels": "Labels that have exactly these values.",
}

_SITE: Final = {
    "SitePart.labels": "What selectors choose the site by.",
    "SitePart.timezone": "The zone of windows that name none.",
    "SitePart.windows": "When work may start here; none: always.",
    "SitePart.drain": "Whether all nodes are drained.",
    "SitePart.nodes": "What is wanted of single nodes, by name.",
    "NodeWish.drain": "Whether the node is drained.",
    "Paused.reason": "Why.",
    "Paused.by": "Who paused it.",
    "Paused.until": "When it ends by itself (RFC 3339).",
    "Defaults.drift": "What follows when a node differs from what is wanted.",
    "Defaults.windows": "Windows of deployments that write none.",
    "Defaults.priority": "Whose turn comes first.",
    "Policy.privileged": "Whether containers may be privileged.",
    "Policy.host_paths": "Folders of the node that may be mounted; none: no folder.",
    "Policy.devices": "Devices of the node that may be used.",
    "Policy.host_namespaces": "Whether the node's network, processes and IPC may be shared.",
    "Policy.capabilities": "Kernel capabilities that may be added.",
    "Policy.registries": "Registries that images may come from; * is any.",
}

_ANSWERS: Final = {
    "Site.wanted_commit": "The newest commit of the site's subtree.",
    "Site.applied_commit": "The commit that the runner works by.",
    "Deployment.revision": "What is wanted, as a digest of its content.",
    "Deployment.document_digest": "Of the document's exact bytes.",
    "Deployment.request": "The request that wrote it last; null when a person pushed it.",
    "Placement.revision": "What really runs.",
    "Placement.version": "The version of what really runs.",
    "Placement.incarnation": "Counts up each time a placement begins anew.",
    "Waiting.for": "What it waits for: node, window, pause, backoff, …",
    "Plan.hash": "Given back with the request, it keeps the request to this plan.",
    "Batch.first_seq": "The number of the first event.",
    "Batch.epoch": "Grows with each take-over of the site.",
}

WORDS: Final[Mapping[str, str]] = {
    **_SCHEMAS, **_DEPLOYMENT, **_BOTH, **_DESCRIPTION, **_OURS, **_SITE, **_ANSWERS
}  # fmt: skip
