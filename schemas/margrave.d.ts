// Types of Margrave's documents, requests and answers.
// Written by docs/generate.py from the models; a test fails when they differ.

/** POST /deployments/actions, and PATCH, DELETE and the verbs of one deployment. */
export interface ActionRequest {
  parameters?: Record<string, unknown>;
  placement?: unknown;
  strategy?: unknown;
  failure?: unknown;
  health?: unknown;
  drift?: unknown;
  windows?: unknown;
  requires?: unknown;
  priority?: "urgent" | "normal" | "bulk" | null;
  reason?: string | null;
  plan_hash?: string | null;
  action: "update" | "rollback" | "retry" | "cancel" | "release" | "delete";
  select: Selection;
  version?: string | null;
  profile?: string | null;
  to?: string | null;
}

/** A component of a profile. */
export interface AppComponent {
  name: string;
}

/** A parameter with its default. */
export interface AppParameter {
  name: string;
  default: unknown;
}

/** One way to run the application. */
export interface AppProfile {
  id: string;
  type: string;
  components: AppComponent[];
}

/** A version of an application in the catalogue. */
export interface AppResource {
  id: string;
  name: string;
  version: string;
  versions: string[];
  description: string | null;
  source: string | null;
  profiles: AppProfile[];
  parameters: AppParameter[];
  findings: Place[];
}

/** What a marketplace shows. */
export interface ApplicationCatalog {
  /** A file of the package that tells more. */
  descriptionFile?: string | null;
  /** A picture in the package. */
  icon?: string | null;
  /** The licence in the package. */
  licenseFile?: string | null;
  /** What is new, as a file of the package. */
  releaseNotes?: string | null;
  /** The application's page on the web. */
  site?: string | null;
  /** What it does, in half a sentence. */
  tagline?: string | null;
  /** Words to find it by. */
  tags?: string[];
}

/** A deployment at a site (Margo 1.0.0-rc.3, with our additions). */
export interface ApplicationDeployment {
  /** The deployment's UUID: the same over its versions, and its file name. */
  id: string;
  metadata: ApplicationDeploymentMetadata;
  spec: Spec;
}

/** One component as the document writes it. */
export interface ApplicationDeploymentComponent {
  /** The component's name, unique in its profile. */
  name: string;
  properties: ComponentProperties;
  "x-margrave-extensions"?: Source;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** Name and place. */
export interface ApplicationDeploymentMetadata {
  /** The deployment's name, unique at its site. */
  name: string;
  /** Helm's namespace; Compose ignores it. */
  namespace: string;
  /** <site>/* (the runner places it) or <site>/<node>. */
  deviceId: string;
  /** Labels of the deployment itself. */
  labels?: Record<string, string>;
}

/** A value and its targets. */
export interface ApplicationDeploymentParameter {
  /** The value; secret://NAME is resolved at the site. */
  value: unknown;
  targets: Target[];
}

/** On which nodes of the site. */
export interface ApplicationDeploymentPlacement {
  /** all that fit, a number of them, or these. */
  nodes?: "all" | number | string[];
  selector?: LabelSelector | null;
  /** Whether a drain may move one that has named volumes. */
  move?: "deny" | "allow";
}

/** The chosen profile with its components in their order. */
export interface ApplicationDeploymentProfile {
  /** What runs it: compose, helm or something of the device's own. */
  type: "helm" | "compose" | "custom";
  /** The components, in the order in which they start. */
  components: ApplicationDeploymentComponent[];
  deviceConstraints?: DeviceConstraints | null;
  /** Nothing of ours stands here yet. */
  "x-margrave-extensions"?: Record<string, unknown>;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** An application's description, margo.yaml (Margo 1.0.0-rc.3). */
export interface ApplicationDescription {
  /** v1. */
  apiVersion: "v1";
  /** The application's id, the same over its versions. */
  id: string;
  metadata: ApplicationDescriptionMetadata;
  deploymentProfiles: ApplicationDescriptionProfile[];
  /** Parameters by name: a default each, and where the value goes. */
  parameters?: Record<string, ApplicationDescriptionParameter>;
  configuration?: Configuration | null;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** One component. */
export interface ApplicationDescriptionComponent {
  /** The component's name, unique in its profile. */
  name: string;
  properties: Properties;
  "x-margrave-extensions"?: Path | null;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** Name and version. */
export interface ApplicationDescriptionMetadata {
  /** The application's name as people read it. */
  name: string;
  /** The version of this package, without a v. */
  version: string;
  catalog: Catalog;
  /** What it does, in a sentence or two. */
  description?: string | null;
}

/** A parameter with its default. */
export interface ApplicationDescriptionParameter {
  targets: Target[];
  /** The default. */
  value?: unknown;
}

/** One way to run the application. */
export interface ApplicationDescriptionProfile {
  /** What runs it: compose, helm or something of the device's own. */
  type: "helm" | "compose" | "custom";
  /** The profile's id, unique in this description. */
  id: string;
  /** The components, in the order in which they start. */
  components: ApplicationDescriptionComponent[];
  /** When to choose this profile. */
  description?: string | null;
  deviceConstraints?: DeviceConstraints | null;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** Who made it. */
export interface Author {
  /** Who wrote it. */
  name?: string | null;
  /** Where the author reads mail. */
  email?: string | null;
}

/** The archive that holds all the documents. */
export interface BundleRef {
  mediaType: "application/vnd.margo.bundle.v1+tar+gzip";
  digest: string;
  url: string;
  sizeBytes?: number | null;
}

/** Processor, memory and storage. */
export interface CapacityRequirements {
  cpu?: CpuRequirement | null;
  /** At least this much, as 512Mi or 2Gi. */
  memory?: string | null;
  /** At least this much, as 10Gi. */
  storage?: string | null;
}

/** Who made it, and what there is to say of it. */
export interface Catalog {
  organization: Organization[];
  author?: Author[];
  application?: ApplicationCatalog | null;
}

/** An event that tells of a command. */
export interface CommandEvent {
  seq: number;
  at: string;
  kind: "command";
  data: ReportCommand;
}

/** Where a command stands; pending ones are repeated with every heartbeat. */
export type CommandState = "pending" | "done" | "refused";

/** Which component, and how long it may take. */
export interface ComponentProperties {
  /** An OCI repository; identity only when Git has the content. */
  repository: string;
  /** The component's own version, without a v. */
  revision: string;
  /** Whether the next component waits until this one is healthy. */
  wait?: boolean;
  /** From start to healthy, as minutes and seconds: 5m0s. */
  timeout?: string | null;
}

/** One component. */
export interface ComponentStatus {
  name: string;
  state: "failed" | "removing" | "installing" | "pending" | "removed" | "installed";
  error?: StatusError | null;
}

/** A deployment that a request is about. */
export interface Concerned {
  id: string;
  site: string;
}

/** Sections and schemas. */
export interface Configuration {
  sections: Section[];
  schema: Schema[];
}

/** One processor; what asks for cores gets them from one entry. */
export interface Cpu {
  cores: number;
  architecture?: "amd64" | "arm64" | "arm" | null;
}

/** One processor entry of the device must supply all of it. */
export interface CpuRequirement {
  /** At least so many of one processor. */
  cores: number;
  /** Any of these; none means any at all. */
  architectures?: ("amd64" | "arm64" | "arm" | "riscv64" | "other")[];
}

/** POST /deployments. */
export interface CreateRequest {
  parameters?: Record<string, unknown>;
  placement?: unknown;
  strategy?: unknown;
  failure?: unknown;
  health?: unknown;
  drift?: unknown;
  windows?: unknown;
  requires?: unknown;
  priority?: "urgent" | "normal" | "bulk" | null;
  reason?: string | null;
  plan_hash?: string | null;
  app: string;
  targets: Targets;
  name?: string | null;
  version?: string | null;
  profile?: string | null;
}

/** A site's defaults: the same keys but what belongs to one release alone. */
export interface Defaults {
  placement?: ApplicationDeploymentPlacement | null;
  strategy?: Strategy | null;
  failure?: Failure | null;
  health?: Health | null;
  /** What follows when a node differs from what is wanted. */
  drift?: "heal" | "report" | "ignore" | null;
  /** Windows of deployments that write none. */
  windows?: Window[] | null;
  /** Whose turn comes first. */
  priority?: "urgent" | "normal" | "bulk" | null;
}

/** One document, by its exact bytes. */
export interface DeploymentRef {
  deploymentId: string;
  digest: string;
  url: string;
  sizeBytes?: number | null;
}

/** A deployment over all its nodes. */
export interface DeploymentResource {
  id: string;
  name: string;
  app: string;
  version: string | null;
  profile: string;
  site: string;
  state: State;
  outcome: Outcome;
  freshness: Freshness;
  /** What is wanted, as a digest of its content. */
  revision: string | null;
  /** Of the document's exact bytes. */
  document_digest: string | null;
  commit: string | null;
  parameters: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  /** The request that wrote it last; null when a person pushed it. */
  request: string | null;
  author: string | null;
}

/** Capacity first, then rules. */
export interface DeviceConstraints {
  capacityRequirements?: CapacityRequirements | null;
  eligibilityRules?: EligibilityRule[];
}

/** The device. */
export interface DeviceProperties {
  id: string;
  vendor: string;
  modelNumber: string;
  serialNumber: string;
  cpus?: Cpu[] | null;
  memory?: string | null;
  storage?: string | null;
  peripherals?: Peripheral[] | null;
  interfaces?: Interface[] | null;
  otelCollector?: boolean | null;
  supportedRuntimes?: ("oci" | "custom")[] | null;
  supportedDeploymentTypes?: ("helm" | "compose" | "custom")[] | null;
}

/** Both selectors must hold; of several rules one is enough. */
export interface EligibilityRule {
  propertySelector?: Selector | null;
  labelSelector?: Selector | null;
}

/** What kind of trouble ended an operation. */
export type ErrorClass = "link" | "registry" | "disk" | "auth" | "config" | "image" | "health" | "engine" | "conflict" | "internal";

/** One event of the stream; `data` is the resource that `event` names, with the time. */
export interface EventResource {
  id: number;
  event: "deployment" | "placement" | "operation" | "node" | "site" | "request" | "log";
  data: Record<string, unknown>;
}

/** One comparison of a key with values. */
export interface Expression {
  /** A property or label of the device. */
  key: string;
  /** How key and values are compared. */
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" | "ContainsAll" | "ContainsAny";
  /** What is compared with; Exists and DoesNotExist have none. */
  values?: unknown[] | null;
  /** What an item of the list has to satisfy. */
  itemSelector?: Selector | null;
}

/** What follows a failed attempt. */
export interface Failure {
  /** Retries by class of error, over the defaults. */
  retries?: Partial<Record<"link" | "registry" | "disk" | "auth" | "config" | "image" | "health" | "engine" | "conflict" | "internal", number>>;
  /** The wait before the first retry; it grows. */
  backoff?: string;
  /** What follows when an update's retries are spent. */
  then?: "rollback" | "hold";
}

/** Whose claim and which turn an operation has. */
export interface Fence {
  runner: string;
  epoch: number;
  seq: number;
}

/** Whether what is shown is known to hold now. */
export type Freshness = "fresh" | "unknown";

/** Why a site takes nothing from Git for now. */
export interface Halted {
  reason: string;
  commit: string | null;
  since: string | null;
}

/** The body of POST runs. */
export interface HandRun {
  tool: string;
  user: string;
  playbook: string;
  results: RunResult[];
}

/** How long until healthy, how long without a check, and how long until proven. */
export interface Health {
  /** From start to healthy; over the components' timeouts when written. */
  timeout?: string;
  /** How long a container without a health check has to run. */
  grace?: string;
  /** How long it has to stay healthy after that, to be gone back to; 0s: not. */
  stable?: string;
}

/** The body of POST heartbeat. */
export interface Heartbeat {
  protocol: number;
  runner: string;
  epoch: number;
  at: string;
  applied_commit?: string | null;
  nodes?: HeartbeatNode[];
}

/** A node in a heartbeat. */
export interface HeartbeatNode {
  name: string;
  status?: string | null;
  last_seen?: string | null;
  error?: string | null;
}

/** A way to communicate. */
export interface Interface {
  type: "ethernet" | "wifi" | "cellular" | "bluetooth" | "usb" | "canbus" | "rs232";
}

/** The operations on a node. */
export type Kind = "install" | "update" | "rollback" | "delete";

/** A comparison of one label, as Kubernetes writes it. */
export interface LabelExpression {
  /** A label's name. */
  key: string;
  /** How the label is compared. */
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** What it is compared with; Exists and DoesNotExist have none. */
  values?: string[];
}

/** All of it must hold; an empty selector selects everything. */
export interface LabelSelector {
  /** Labels that have exactly these values. */
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelExpression[];
}

/** An event that tells of a log. */
export interface LogEvent {
  seq: number;
  at: string;
  kind: "log";
  data: ReportLog;
}

/** What a device can do, as it tells its fleet manager (Margo). */
export interface MargoCapabilities {
  properties: DeviceProperties;
  labels?: Record<string, string | boolean | number | string[] | number[]>;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** What a client is to run, each document by its digest (Margo). */
export interface MargoManifest {
  manifestVersion: number;
  bundle: BundleRef | null;
  deployments: DeploymentRef[];
}

/** An answer of Margo's API that is no success (RFC 9457). */
export interface MargoProblem {
  type: string;
  title: string;
  status: number;
  detail?: string | null;
  instance?: string | null;
  retryable?: boolean | null;
  retryAfterSeconds?: number | null;
  backoffStrategy?: "none" | "fixed" | "exponential" | null;
  errors?: MargoProblemFieldError[];
}

/** What is wrong with one field of the request. */
export interface MargoProblemFieldError {
  field?: string | null;
  message?: string | null;
}

/** How a deployment fares, in Margo's six states. */
export interface MargoStatus {
  deploymentId: string;
  adoptedManifestVersion: number;
  status: OverallStatus;
  components: ComponentStatus[];
  deviceId?: string | null;
}

/** The anchors of a trust domain (a SPIFFE bundle). */
export interface MargoTrustBundle {
  keys: (Record<string, unknown>)[];
  spiffe_sequence?: number | null;
  spiffe_refresh_hint?: number | null;
}

/** An event that tells of a node. */
export interface NodeEvent {
  seq: number;
  at: string;
  kind: "node";
  data: ReportNode;
}

/** An edge node. */
export interface NodeResource {
  site: string;
  name: string;
  address: string | null;
  status: "active" | "unusable" | "stale" | "offline";
  drain: boolean;
  last_seen: string | null;
  reason: string | null;
  labels: Record<string, unknown>;
  capabilities: Record<string, unknown>;
}

/** What the document wants of one node. */
export interface NodeWish {
  /** Whether the node is drained. */
  drain?: boolean;
}

/** Why an attempt failed, and what helps. */
export interface OperationError {
  class: ErrorClass;
  code: string;
  message: string;
  cure: string;
}

/** An event that tells of an operation. */
export interface OperationEvent {
  seq: number;
  at: string;
  kind: "operation";
  data: ReportOperation;
}

/** One kind of work on one node, over all its attempts. */
export interface OperationResource {
  id: string;
  deployment: string;
  site: string;
  node: string;
  kind: Kind;
  state: "running" | "waiting" | "succeeded" | "failed" | "cancelled";
  phase: string | null;
  attempt: number;
  started_at: string | null;
  ended_at: string | null;
  fence: Fence | null;
  error: OperationError | null;
  trace: string | null;
}

/** Where an operation on a node stands. */
export type OperationState = "running" | "waiting" | "succeeded" | "failed" | "cancelled";

/** Who offers the application. */
export interface Organization {
  /** Its name. */
  name: string;
  /** Its page on the web. */
  site?: string | null;
}

/** How the wanted revision fared, beside the state. */
export type Outcome = "pending" | "succeeded" | "failed" | "rolled-back" | "rollback-failed" | "held";

/** The deployment as a whole. */
export interface OverallStatus {
  state: "failed" | "removing" | "installing" | "pending" | "removed" | "installed";
  error?: StatusError | null;
}

/** Where in the package the component's folder lies. */
export interface Path {
  /** The component's folder in this package, such as ./compose. */
  path: string;
}

/** Why, by whom and until when nothing new is started at the site. */
export interface Paused {
  /** Why. */
  reason: string;
  /** Who paused it. */
  by: string;
  /** When it ends by itself (RFC 3339). */
  until?: string | null;
}

/** Something attached. */
export interface Peripheral {
  type: "gpu" | "display" | "camera" | "microphone" | "speaker";
  manufacturer?: string | null;
  model?: string | null;
}

/** One thing that is wrong, at its place. */
export interface Place {
  file: string;
  line: number;
  column: number;
  pointer: string;
  severity: "error" | "warning";
  message: string;
  cure: string;
}

/** A component as it stands on a node. */
export interface PlacementComponent {
  name: string;
  state: string | null;
  error: unknown;
}

/** An event that tells of a placement. */
export interface PlacementEvent {
  seq: number;
  at: string;
  kind: "placement";
  data: ReportPlacement;
}

/** A deployment on a node. */
export interface PlacementResource {
  deployment: string;
  site: string;
  node: string;
  /** Counts up each time a placement begins anew. */
  incarnation: number;
  state: State;
  outcome: Outcome;
  freshness: Freshness;
  /** What really runs. */
  revision: string | null;
  /** The version of what really runs. */
  version: string | null;
  wanted_revision: string | null;
  wanted_version: string | null;
  attempt: number;
  reason: string | null;
  error: OperationError | null;
  waiting: Waiting | null;
  health: "healthy" | "degraded" | "unknown";
  drift: unknown[];
  components: PlacementComponent[];
  since: string | null;
}

/** What a request would do; asked for again under its hash it does just that, or nothing. */
export interface PlanResource {
  /** Given back with the request, it keeps the request to this plan. */
  hash: string | null;
  sites: PlannedSite[];
  duration?: number | null;
  findings: Place[];
}

/** What would happen on a node. */
export interface PlannedNode {
  node: string;
  action: "install" | "update" | "rollback" | "delete" | "none";
  from: string | null;
  to: string | null;
  images: string[];
  bytes: number | null;
  strategy: Record<string, unknown> | null;
  why: string;
  waiting: Waiting | null;
}

/** What would happen at a site, to one deployment there. */
export interface PlannedSite {
  site: string;
  deployment: string | null;
  name: string | null;
  app: string | null;
  nodes: PlannedNode[];
  batches: string[][];
  duration: number | null;
}

/** How far a package may reach into a node of the site. */
export interface Policy {
  /** Whether containers may be privileged. */
  privileged?: "deny" | "allow";
  /** Folders of the node that may be mounted; none: no folder. */
  host_paths?: string[];
  /** Devices of the node that may be used. */
  devices?: string[];
  /** Whether the node's network, processes and IPC may be shared. */
  host_namespaces?: "deny" | "allow";
  /** Kernel capabilities that may be added. */
  capabilities?: string[];
  /** Registries that images may come from; * is any. */
  registries?: string[];
}

/** An answer that is no success (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors: ProblemFieldError[];
}

/** One thing that is wrong in a body. */
export interface ProblemFieldError {
  pointer: string;
  code: string;
  detail: string;
}

/** Which component, and how long it may take. */
export interface Properties {
  /** An OCI repository; identity only when the package has the content. */
  repository: string;
  /** The component's own version, without a v. */
  revision: string;
  /** Whether the next component waits until this one is healthy. */
  wait?: boolean | null;
  /** From start to healthy, as minutes and seconds: 5m0s. */
  timeout?: string | null;
}

/** The body of POST reports. */
export interface ReportBatch {
  protocol: number;
  runner: string;
  /** Grows with each take-over of the site. */
  epoch: number;
  /** The number of the first event. */
  first_seq: number;
  events: (SnapshotEvent | PlacementEvent | OperationEvent | NodeEvent | SiteEvent | CommandEvent | LogEvent)[];
}

/** A command that the runner is done with. */
export interface ReportCommand {
  id: string;
  result: CommandState;
  detail?: string | null;
}

/** Lines of an operation's log. */
export interface ReportLog {
  operation: string;
  lines?: string[];
  line?: string | null;
}

/** A node as its runner knows it, or that it was removed. */
export interface ReportNode {
  name: string;
  removed?: boolean;
  address?: string | null;
  status?: string | null;
  last_seen?: string | null;
  error?: string | null;
  labels?: Record<string, unknown> | null;
  capabilities?: Record<string, unknown> | null;
}

/** An operation as it stands. */
export interface ReportOperation {
  id: string;
  deployment: string;
  node: string;
  kind: Kind;
  state: OperationState;
  phase?: string | null;
  attempt?: number;
  started_at?: string | null;
  ended_at?: string | null;
  fence?: Record<string, unknown> | null;
  revision?: string | null;
  error?: Record<string, unknown> | null;
  trace?: string | null;
}

/** A placement as it stands, and the transition that led there (`to` is null without one). */
export interface ReportPlacement {
  deployment: string;
  node: string;
  incarnation?: number;
  state: State;
  outcome: Outcome;
  revision?: string | null;
  version?: string | null;
  wanted_revision?: string | null;
  wanted_version?: string | null;
  attempted_revision?: string | null;
  attempted_version?: string | null;
  attempt?: number;
  reason?: string | null;
  error?: Record<string, unknown> | null;
  waiting?: Record<string, unknown> | null;
  health?: string;
  drift?: unknown[];
  components?: unknown[];
  keeps_data?: boolean | null;
  since?: string | null;
  name?: string | null;
  from?: State | null;
  to?: State | null;
  actor?: string;
  operation?: string | null;
  commit?: string | null;
}

/** What holds the site, and how far it has come. */
export interface ReportSite {
  locked?: unknown;
  halted?: Record<string, unknown> | null;
  applied_commit?: string | null;
}

/** All that the runner knows. */
export interface ReportSnapshot {
  placements?: ReportPlacement[];
  nodes?: ReportNode[];
  site?: ReportSite | null;
}

/** What somebody asked for, and how far it has come. */
export interface RequestResource {
  id: string;
  action: string;
  actor: string;
  state: "queued" | "publishing" | "published" | "refused" | "cancelled" | "failed";
  position: number | null;
  eta: string | null;
  commit: string | null;
  deployments: Concerned[];
  deployments_total: number;
  plan: PlanResource | null;
  trace: string | null;
  created_at: string;
}

/** What a playbook did with a deployment on a node. */
export interface RunResult {
  node: string;
  deployment: string;
  kind: Kind;
  outcome: "succeeded" | "failed" | "unchanged";
  error?: Record<string, unknown> | null;
  at: string;
}

/** The rule that a value must satisfy. */
export interface Schema {
  /** How settings name this schema. */
  name: string;
  /** What kind of value it is. */
  dataType: "string" | "integer" | "double" | "boolean" | "select" | "array[string]" | "array[integer]" | "array[double]" | "array[boolean]";
  /** Whether no value is a value. */
  allowEmpty?: boolean;
  /** The fewest characters. */
  minLength?: number | null;
  /** The most characters. */
  maxLength?: number | null;
  /** A regular expression that the text contains. */
  regexMatch?: string | null;
  /** The smallest number. */
  minValue?: number | null;
  /** The largest number. */
  maxValue?: number | null;
  /** The fewest decimal places. */
  minPrecision?: number | null;
  /** The most decimal places. */
  maxPrecision?: number | null;
  /** Whether several options may be chosen. */
  multiselect?: boolean;
  /** What may be chosen. */
  options?: unknown[];
}

/** Settings that belong together. */
export interface Section {
  /** A heading. */
  name: string;
  settings: Setting[];
}

/** Which deployments, as the list is filtered; all that is given has to hold. */
export interface Selection {
  name?: string | null;
  ids?: string[] | null;
  sites?: string[] | null;
  selector?: LabelSelector | null;
  app?: string | null;
  state?: State | null;
  outcome?: Outcome | Outcome[] | null;
  q?: string | null;
}

/** All its expressions must hold. */
export interface Selector {
  matchExpressions: Expression[];
}

/** A parameter as people are asked for it. */
export interface Setting {
  /** The parameter that is asked for. */
  parameter: string;
  /** How the parameter is called when people are asked. */
  name: string;
  /** The schema that the value has to satisfy. */
  schema: string;
  /** What the value is for. */
  description?: string | null;
  /** Whether it stays as it was at the first install. */
  immutable?: boolean;
}

/** A site's own document, sites/<site>.yaml; each key is optional. */
export interface Site {
  /** What selectors choose the site by. */
  labels?: Record<string, string>;
  /** The zone of windows that name none. */
  timezone?: string;
  /** When work may start here; none: always. */
  windows?: Window[];
  policy?: Policy;
  paused?: Paused | null;
  /** Whether all nodes are drained. */
  drain?: boolean;
  /** What is wanted of single nodes, by name. */
  nodes?: Record<string, NodeWish>;
  defaults?: Defaults;
}

/** An event that tells of a site. */
export interface SiteEvent {
  seq: number;
  at: string;
  kind: "site";
  data: ReportSite;
}

/** A site and its runner. */
export interface SiteResource {
  name: string;
  labels: Record<string, string>;
  timezone: string;
  freshness: Freshness;
  last_seen: string | null;
  /** The newest commit of the site's subtree. */
  wanted_commit: string | null;
  /** The commit that the runner works by. */
  applied_commit: string | null;
  behind?: boolean | null;
  paused: Record<string, unknown> | null;
  locked: unknown;
  halted: Halted | null;
  clock_offset: number | null;
  nodes: string[];
  deployments: Partial<Record<State, number>>;
}

/** An event that tells of a snapshot. */
export interface SnapshotEvent {
  seq: number;
  at: string;
  kind: "snapshot";
  data: ReportSnapshot;
}

/** Where Git holds a component's content. */
export interface Source {
  /** components/<digest> when Git holds the component's content. */
  source?: string | null;
}

/** What runs. */
export interface Spec {
  /** The id of the application, as in its margo.yaml. */
  applicationId: string;
  deploymentProfile: ApplicationDeploymentProfile;
  /** Values by name, each with where it goes. */
  parameters?: Record<string, ApplicationDeploymentParameter>;
  "x-margrave-extensions"?: XMargraveExtensions;
  [foreign: `x-${string}-extensions`]: object | null | undefined;
}

/** Where a placement stands. */
export type State = "PENDING" | "INSTALLING" | "INSTALLED" | "UPDATING" | "FAILED" | "ROLLINGBACK" | "DELETING" | "DELETED";

/** What went wrong, and whose fault it is: a device's id, a deployment's or component's name. */
export interface StatusError {
  code: string;
  source: string;
  message: string;
}

/** How an update goes over the nodes, and over a node. */
export interface Strategy {
  /** Whether the old stops first; auto is what the engine does best. */
  update?: "auto" | "stop-first" | "start-first";
  /** How many nodes at once: all, canary (one, then the rest), 3 or 20%. */
  batch?: string | number;
}

/** Where a parameter's value goes. */
export interface Target {
  /** For Compose a variable's name, for Helm a dotted path of values. */
  pointer: string;
  /** Names of the components that get the value. */
  components: string[];
}

/** Where to: named sites, sites by label, or single nodes. */
export interface Targets {
  sites?: string[] | null;
  selector?: LabelSelector | null;
  nodes?: string[] | null;
}

/** One line of a placement's history; a deployment's lines come oldest first. */
export interface TransitionResource {
  at: string;
  deployment: string;
  node: string;
  incarnation: number;
  from: State | null;
  to: State;
  actor: string;
  reason: string | null;
  operation: string | null;
  trace: string | null;
  attempt: number;
  revision: string | null;
  version: string | null;
  commit: string | null;
  error: OperationError | null;
}

/** What has to come first, and when it is looked at again. */
export interface Waiting {
  /** What it waits for: node, window, pause, backoff, … */
  for: string;
  until: string | null;
}

/** A repeating span of time in which work may start. */
export interface Window {
  /** When it opens: minute hour day month weekday. */
  cron: string;
  /** How long it stays open, as 2h. */
  duration: string;
  /** The zone of cron; the site's when absent. */
  timezone?: string | null;
}

/** All additions with their defaults. */
export interface XMargraveExtensions {
  /** The application's version; the controller writes it. */
  version?: string | null;
  placement?: ApplicationDeploymentPlacement;
  strategy?: Strategy;
  failure?: Failure;
  health?: Health;
  /** What follows when a node differs from what is wanted. */
  drift?: "heal" | "report" | "ignore";
  /** When work may start, beside the site's own windows; none: always. */
  windows?: Window[];
  /** Whose turn comes first; urgent passes closed windows, with a reason. */
  priority?: "urgent" | "normal" | "bulk";
  /** Why it is urgent; kept in the history. */
  reason?: string | null;
  /** Deployments that have to be healthy at the site first. */
  requires?: string[];
}
