PRAGMA auto_vacuum=INCREMENTAL;
BEGIN;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE app_sources (
	name VARCHAR(63) NOT NULL, 
	url TEXT NOT NULL, 
	ref VARCHAR(255), 
	path VARCHAR(255) NOT NULL, 
	credentials JSON, 
	"commit" VARCHAR(64), 
	error TEXT, 
	findings JSON NOT NULL, 
	synced_at DATETIME, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_app_sources PRIMARY KEY (name)
);
CREATE TABLE apps (
	id VARCHAR(200) NOT NULL, 
	newest VARCHAR(255), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_apps PRIMARY KEY (id)
);
CREATE TABLE components (
	digest VARCHAR(71) NOT NULL, 
	archive BLOB NOT NULL, 
	size INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_components PRIMARY KEY (digest)
);
CREATE TABLE app_versions (
	id INTEGER NOT NULL, 
	app_id VARCHAR(200) NOT NULL, 
	version VARCHAR(255) NOT NULL, 
	source VARCHAR(63), 
	folder TEXT NOT NULL, 
	"commit" VARCHAR(64), 
	digest VARCHAR(71) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	about TEXT NOT NULL, 
	text TEXT NOT NULL, 
	description JSON NOT NULL, 
	findings JSON NOT NULL, 
	usable BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_app_versions PRIMARY KEY (id), 
	CONSTRAINT fk_app_versions_app_id FOREIGN KEY(app_id) REFERENCES apps (id) ON DELETE CASCADE, 
	CONSTRAINT fk_app_versions_source FOREIGN KEY(source) REFERENCES app_sources (name) ON DELETE SET NULL, 
	CONSTRAINT uq_app_versions_app_id_version UNIQUE (app_id, version)
);
CREATE TABLE app_version_components (
	version_id INTEGER NOT NULL, 
	path VARCHAR(1024) NOT NULL, 
	digest VARCHAR(71) NOT NULL, 
	CONSTRAINT pk_app_version_components PRIMARY KEY (version_id, path), 
	CONSTRAINT fk_app_version_components_digest FOREIGN KEY(digest) REFERENCES components (digest), 
	CONSTRAINT fk_app_version_components_version_id FOREIGN KEY(version_id) REFERENCES app_versions (id) ON DELETE CASCADE
);
CREATE TABLE users (
	name VARCHAR(63) NOT NULL, 
	password_hash TEXT NOT NULL, 
	role VARCHAR(24) NOT NULL, 
	sites JSON, 
	disabled BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (name)
);
CREATE TABLE login_sessions (
	digest VARCHAR(64) NOT NULL, 
	user VARCHAR(63) NOT NULL, 
	csrf VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_login_sessions PRIMARY KEY (digest), 
	CONSTRAINT fk_login_sessions_user FOREIGN KEY(user) REFERENCES users (name) ON DELETE CASCADE
);
CREATE TABLE tokens (
	id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	role VARCHAR(24) NOT NULL, 
	sites JSON, 
	user VARCHAR(63), 
	created_by VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	revoked_at DATETIME, 
	last_used_at DATETIME, 
	CONSTRAINT pk_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_tokens_user FOREIGN KEY(user) REFERENCES users (name) ON DELETE CASCADE, 
	CONSTRAINT uq_tokens_digest UNIQUE (digest)
);
CREATE TABLE sites (
	name VARCHAR(63) NOT NULL, 
	document JSON NOT NULL, 
	findings JSON NOT NULL, 
	labels JSON NOT NULL, 
	timezone VARCHAR(255), 
	paused JSON, 
	drain BOOLEAN NOT NULL, 
	wanted_commit VARCHAR(64), 
	runner VARCHAR(36), 
	epoch INTEGER, 
	last_seen DATETIME, 
	applied_commit VARCHAR(64), 
	locked JSON, 
	halted JSON, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_sites PRIMARY KEY (name)
);
CREATE TABLE nodes (
	site VARCHAR(63) NOT NULL, 
	name VARCHAR(63) NOT NULL, 
	address VARCHAR(255), 
	status VARCHAR(255), 
	drain BOOLEAN NOT NULL, 
	last_seen DATETIME, 
	labels JSON NOT NULL, 
	capabilities JSON NOT NULL, 
	registered_at DATETIME NOT NULL, 
	CONSTRAINT pk_nodes PRIMARY KEY (site, name), 
	CONSTRAINT fk_nodes_site FOREIGN KEY(site) REFERENCES sites (name) ON DELETE CASCADE
);
CREATE TABLE site_tokens (
	id VARCHAR(36) NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_by VARCHAR(255) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	revoked_at DATETIME, 
	last_used_at DATETIME, 
	CONSTRAINT pk_site_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_site_tokens_site FOREIGN KEY(site) REFERENCES sites (name) ON DELETE CASCADE, 
	CONSTRAINT uq_site_tokens_digest UNIQUE (digest)
);
CREATE TABLE requests (
	number INTEGER NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	action VARCHAR(24) NOT NULL, 
	actor VARCHAR(255) NOT NULL, 
	state VARCHAR(24) NOT NULL, 
	priority VARCHAR(24) NOT NULL, 
	rank INTEGER NOT NULL, 
	reason TEXT, 
	body JSON NOT NULL, 
	change JSON NOT NULL, 
	"plan" JSON, 
	idempotency_key VARCHAR(255), 
	"commit" VARCHAR(64), 
	branch JSON, 
	error JSON, 
	trace VARCHAR(255), 
	created_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_requests PRIMARY KEY (number), 
	CONSTRAINT uq_requests_actor_idempotency_key UNIQUE (actor, idempotency_key), 
	CONSTRAINT uq_requests_id UNIQUE (id)
);
CREATE TABLE deployments (
	"key" INTEGER NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	app VARCHAR(200) NOT NULL, 
	search TEXT NOT NULL GENERATED ALWAYS AS (lower(name || ' ' || app || ' ' || site || ' ' || id)) STORED, 
	state VARCHAR(24) NOT NULL, 
	outcome VARCHAR(24) NOT NULL, 
	version VARCHAR(255), 
	profile VARCHAR(255) NOT NULL, 
	node VARCHAR(63), 
	in_git BOOLEAN NOT NULL, 
	revision VARCHAR(71), 
	document_digest VARCHAR(71), 
	document TEXT, 
	parameters JSON NOT NULL, 
	extensions JSON NOT NULL, 
	needs JSON NOT NULL, 
	findings JSON NOT NULL, 
	"commit" VARCHAR(64), 
	author VARCHAR(255), 
	request VARCHAR(36), 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	CONSTRAINT pk_deployments PRIMARY KEY ("key"), 
	CONSTRAINT fk_deployments_site FOREIGN KEY(site) REFERENCES sites (name), 
	CONSTRAINT uq_deployments_site_id UNIQUE (site, id)
);
CREATE TABLE request_deployments (
	request INTEGER NOT NULL, 
	deployment VARCHAR(36) NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	CONSTRAINT pk_request_deployments PRIMARY KEY (request, deployment, site), 
	CONSTRAINT fk_request_deployments_request FOREIGN KEY(request) REFERENCES requests (number) ON DELETE CASCADE
);
CREATE TABLE history (
	id INTEGER NOT NULL, 
	deployment INTEGER NOT NULL, 
	node VARCHAR(63) NOT NULL, 
	incarnation INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	from_state VARCHAR(24), 
	to_state VARCHAR(24) NOT NULL, 
	actor VARCHAR(255) NOT NULL, 
	reason TEXT, 
	operation VARCHAR(36), 
	attempt INTEGER NOT NULL, 
	revision VARCHAR(71), 
	version VARCHAR(255), 
	"commit" VARCHAR(64), 
	error JSON, 
	irregular BOOLEAN NOT NULL, 
	CONSTRAINT pk_history PRIMARY KEY (id), 
	CONSTRAINT fk_history_deployment FOREIGN KEY(deployment) REFERENCES deployments ("key") ON DELETE CASCADE
);
CREATE TABLE operations (
	number INTEGER NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	deployment INTEGER NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	node VARCHAR(63) NOT NULL, 
	kind VARCHAR(24) NOT NULL, 
	state VARCHAR(24) NOT NULL, 
	phase VARCHAR(255), 
	attempt INTEGER NOT NULL, 
	started_at DATETIME, 
	ended_at DATETIME, 
	fence JSON, 
	error JSON, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_operations PRIMARY KEY (number), 
	CONSTRAINT fk_operations_deployment FOREIGN KEY(deployment) REFERENCES deployments ("key") ON DELETE CASCADE, 
	CONSTRAINT uq_operations_id UNIQUE (id)
);
CREATE TABLE placements (
	deployment INTEGER NOT NULL, 
	node VARCHAR(63) NOT NULL, 
	incarnation INTEGER NOT NULL, 
	state VARCHAR(24) NOT NULL, 
	outcome VARCHAR(24) NOT NULL, 
	revision VARCHAR(71), 
	version VARCHAR(255), 
	wanted_revision VARCHAR(71), 
	wanted_version VARCHAR(255), 
	attempt INTEGER NOT NULL, 
	reason TEXT, 
	error JSON, 
	waiting JSON, 
	health VARCHAR(255) NOT NULL, 
	drift JSON NOT NULL, 
	components JSON NOT NULL, 
	since DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_placements PRIMARY KEY (deployment, node, incarnation), 
	CONSTRAINT fk_placements_deployment FOREIGN KEY(deployment) REFERENCES deployments ("key") ON DELETE CASCADE
);
CREATE TABLE operation_log (
	operation INTEGER NOT NULL, 
	chunk INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	lines BLOB NOT NULL, 
	CONSTRAINT pk_operation_log PRIMARY KEY (operation, chunk), 
	CONSTRAINT fk_operation_log_operation FOREIGN KEY(operation) REFERENCES operations (number) ON DELETE CASCADE
);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	actor VARCHAR(255) NOT NULL, 
	address VARCHAR(255), 
	action VARCHAR(255) NOT NULL, 
	target TEXT NOT NULL, 
	outcome VARCHAR(255) NOT NULL, 
	trace VARCHAR(255), 
	detail JSON NOT NULL, 
	previous VARCHAR(64) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id)
);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	event VARCHAR(24) NOT NULL, 
	site VARCHAR(63), 
	deployment VARCHAR(36), 
	data JSON NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (id)
);
CREATE TABLE facts (
	name VARCHAR(63) NOT NULL, 
	value JSON NOT NULL, 
	CONSTRAINT pk_facts PRIMARY KEY (name)
);
CREATE TABLE totals (
	name VARCHAR(63) NOT NULL, 
	label VARCHAR(255) NOT NULL, 
	value INTEGER NOT NULL, 
	CONSTRAINT pk_totals PRIMARY KEY (name, label)
);
CREATE TABLE commands (
	number INTEGER NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	kind VARCHAR(24) NOT NULL, 
	data JSON NOT NULL, 
	state VARCHAR(24) NOT NULL, 
	request VARCHAR(36), 
	actor VARCHAR(255) NOT NULL, 
	detail TEXT, 
	created_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_commands PRIMARY KEY (number), 
	CONSTRAINT fk_commands_site FOREIGN KEY(site) REFERENCES sites (name) ON DELETE CASCADE, 
	CONSTRAINT uq_commands_id UNIQUE (id)
);
CREATE TABLE rejected_reports (
	id INTEGER NOT NULL, 
	site VARCHAR(63) NOT NULL, 
	runner VARCHAR(36) NOT NULL, 
	epoch INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	finding TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_rejected_reports PRIMARY KEY (id), 
	CONSTRAINT fk_rejected_reports_site FOREIGN KEY(site) REFERENCES sites (name) ON DELETE CASCADE
);
CREATE TABLE report_cursors (
	site VARCHAR(63) NOT NULL, 
	runner VARCHAR(36) NOT NULL, 
	epoch INTEGER NOT NULL, 
	next_seq INTEGER NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_report_cursors PRIMARY KEY (site, runner, epoch), 
	CONSTRAINT fk_report_cursors_site FOREIGN KEY(site) REFERENCES sites (name) ON DELETE CASCADE
);
INSERT INTO "alembic_version" ("version_num") VALUES ('0006');
INSERT INTO "app_sources" ("name", "url", "ref", "path", "credentials", "commit", "error", "findings", "synced_at", "created_at") VALUES ('own', '/tmp/released/apps', NULL, '', NULL, NULL, NULL, '[]', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
INSERT INTO "apps" ("id", "newest", "created_at") VALUES ('shop', '1.1.0', '2026-03-01 12:00:00.000000');
INSERT INTO "components" ("digest", "archive", "size", "created_at") VALUES ('sha256:7c1861d108dae078759122c3742ff117632faf115133f2a6bc0969e3774c3397', X'789CEDD1414BC33018C6F19DF72942F128319B9B4AEE750AA23277130FD908B5B03425A99521FDEEC60843BC4F77F8FF2E4FF2869737241BEF5A1FADDC19B71D1D884A2E66B39CC9EF54D3F3FDD9777DA2A697F3915087BAD04F6FB133218DFF8B594728DAD0D71B1BF5588877BBFE0A216A672AAB45B0551DBBB093CE842A98DECAAD59EB79FAA2B3F8EA5B3D914AAADC609BBE0EBE71B6E9B4F8582CCB72757BBFD0A238D96F86E2543CDD9477D7B99A574331E4EED6872E6AF19CEA8F0FCBD5A0AFD288E265FCDF6F0300000000000000000000000000C7EC1397D03F20', 10240, '2026-03-01 12:00:00.000000');
INSERT INTO "components" ("digest", "archive", "size", "created_at") VALUES ('sha256:5708b8aa1718b7b803fe0dfcf7dc2c56f2b8e7a30fe714ac3e7e25f9b4728359', X'789CEDD14D6B0231100660CFFE8A61F15862D66A2BB9AF1F506AB1DE4A0F518675C16C9664DD22B2FFBD690A22DEFD38BCCFE54D260C13928D3595F52C0EDAEC3A57228397E13066709972F07C3AFBAFA772F03AEA90BCD685CEED7DAD5D187F8B590FC8B36B8A0D7BD525FAE1F55F101546E7ACC8715EF8DA1D84D12E77BA61B1D36B350A5FD4F75B5BA954A442C6062E9BC2D9D270592B3A4E9759B69ABF4F1525BDD3A64D9EE87396BD4D6235AEDAA48DDD9575B557F415EA1F8BE5AA55E33022F9EEDEFB6D0000000000000000000000000000000000001ED92FBD923F21', 10240, '2026-03-01 12:00:00.000000');
INSERT INTO "app_versions" ("id", "app_id", "version", "source", "folder", "commit", "digest", "name", "about", "text", "description", "findings", "usable", "created_at") VALUES (1, 'shop', '1.0.0', 'own', 'shop/1.0.0', NULL, 'sha256:9208461df67b1c1eae4027a37a004dc4aab16cf644eddb6269efad2715b4d09a', 'Shop', '', 'apiVersion: v1
configuration:
  schema:
  - dataType: string
    name: greeting
  - dataType: integer
    name: port
  - dataType: string
    name: shelf
  sections:
  - name: All
    settings:
    - name: Greeting
      parameter: greeting
      schema: greeting
    - name: Port
      parameter: port
      schema: port
    - immutable: true
      name: Shelf
      parameter: shelf
      schema: shelf
deploymentProfiles:
- components:
  - name: shop
    properties:
      repository: oci://registry.margrave.lab:5000/shop
      revision: 1.0.0
    x-margrave-extensions:
      path: ./compose
  id: shop-compose
  type: compose
id: shop
metadata:
  catalog:
    organization:
    - name: Margrave tests
  name: Shop
  version: 1.0.0
parameters:
  greeting:
    targets:
    - components:
      - shop
      pointer: GREETING
    value: hello
  port:
    targets:
    - components:
      - shop
      pointer: PORT
    value: 8000
  shelf:
    targets:
    - components:
      - shop
      pointer: SHELF
    value: left
', '{"apiVersion": "v1", "configuration": {"schema": [{"dataType": "string", "name": "greeting"}, {"dataType": "integer", "name": "port"}, {"dataType": "string", "name": "shelf"}], "sections": [{"name": "All", "settings": [{"name": "Greeting", "parameter": "greeting", "schema": "greeting"}, {"name": "Port", "parameter": "port", "schema": "port"}, {"immutable": true, "name": "Shelf", "parameter": "shelf", "schema": "shelf"}]}]}, "deploymentProfiles": [{"components": [{"name": "shop", "properties": {"repository": "oci://registry.margrave.lab:5000/shop", "revision": "1.0.0"}, "x-margrave-extensions": {"path": "./compose"}}], "id": "shop-compose", "type": "compose"}], "id": "shop", "metadata": {"catalog": {"organization": [{"name": "Margrave tests"}]}, "name": "Shop", "version": "1.0.0"}, "parameters": {"greeting": {"targets": [{"components": ["shop"], "pointer": "GREETING"}], "value": "hello"}, "port": {"targets": [{"components": ["shop"], "pointer": "PORT"}], "value": 8000}, "shelf": {"targets": [{"components": ["shop"], "pointer": "SHELF"}], "value": "left"}}}', '[]', 1, '2026-03-01 12:00:00.000000');
INSERT INTO "app_versions" ("id", "app_id", "version", "source", "folder", "commit", "digest", "name", "about", "text", "description", "findings", "usable", "created_at") VALUES (2, 'shop', '1.1.0', 'own', 'shop/1.1.0', NULL, 'sha256:2985d3a2952c720d3031aba6a1a05bd6a80dd58376f11d3dea0a4d89e9c5e208', 'Shop', '', 'apiVersion: v1
configuration:
  schema:
  - dataType: string
    name: greeting
  - dataType: integer
    name: port
  - dataType: string
    name: shelf
  sections:
  - name: All
    settings:
    - name: Greeting
      parameter: greeting
      schema: greeting
    - name: Port
      parameter: port
      schema: port
    - immutable: true
      name: Shelf
      parameter: shelf
      schema: shelf
deploymentProfiles:
- components:
  - name: shop
    properties:
      repository: oci://registry.margrave.lab:5000/shop
      revision: 1.1.0
    x-margrave-extensions:
      path: ./compose
  id: shop-compose
  type: compose
id: shop
metadata:
  catalog:
    organization:
    - name: Margrave tests
  name: Shop
  version: 1.1.0
parameters:
  greeting:
    targets:
    - components:
      - shop
      pointer: GREETING
    value: hello
  port:
    targets:
    - components:
      - shop
      pointer: PORT
    value: 8000
  shelf:
    targets:
    - components:
      - shop
      pointer: SHELF
    value: left
', '{"apiVersion": "v1", "configuration": {"schema": [{"dataType": "string", "name": "greeting"}, {"dataType": "integer", "name": "port"}, {"dataType": "string", "name": "shelf"}], "sections": [{"name": "All", "settings": [{"name": "Greeting", "parameter": "greeting", "schema": "greeting"}, {"name": "Port", "parameter": "port", "schema": "port"}, {"immutable": true, "name": "Shelf", "parameter": "shelf", "schema": "shelf"}]}]}, "deploymentProfiles": [{"components": [{"name": "shop", "properties": {"repository": "oci://registry.margrave.lab:5000/shop", "revision": "1.1.0"}, "x-margrave-extensions": {"path": "./compose"}}], "id": "shop-compose", "type": "compose"}], "id": "shop", "metadata": {"catalog": {"organization": [{"name": "Margrave tests"}]}, "name": "Shop", "version": "1.1.0"}, "parameters": {"greeting": {"targets": [{"components": ["shop"], "pointer": "GREETING"}], "value": "hello"}, "port": {"targets": [{"components": ["shop"], "pointer": "PORT"}], "value": 8000}, "shelf": {"targets": [{"components": ["shop"], "pointer": "SHELF"}], "value": "left"}}}', '[]', 1, '2026-03-01 12:00:00.000000');
INSERT INTO "app_version_components" ("version_id", "path", "digest") VALUES (1, 'compose', 'sha256:7c1861d108dae078759122c3742ff117632faf115133f2a6bc0969e3774c3397');
INSERT INTO "app_version_components" ("version_id", "path", "digest") VALUES (2, 'compose', 'sha256:5708b8aa1718b7b803fe0dfcf7dc2c56f2b8e7a30fe714ac3e7e25f9b4728359');
INSERT INTO "users" ("name", "password_hash", "role", "sites", "disabled", "created_at") VALUES ('ada', '$argon2id$v=19$m=65536,t=3,p=4$r7gLiwm+gEENoqY2CyqVfQ$TQ8LZ6xSquHc9hdIncNzhx9lz1cN64wGq02DeuZEZzw', 'operator', NULL, 0, '2026-03-01 12:00:00.000000');
INSERT INTO "login_sessions" ("digest", "user", "csrf", "created_at", "expires_at") VALUES ('57fc49bca7294397a437f2cce3c0d8808431ea8fa2582fabc6b9627f2a416f8f', 'ada', 'v9zlxp4uvGK7EU-_At5-O5DE_ihlCCf5', '2026-03-01 12:00:00.000000', '2026-03-02 00:00:00.000000');
INSERT INTO "tokens" ("id", "name", "digest", "role", "sites", "user", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at") VALUES ('8e798d90-5f3d-4459-aa9f-231f503f5ba5', 'first', '8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918', 'admin', NULL, NULL, 'init', '2026-03-01 12:00:00.000000', NULL, NULL, '2026-03-01 12:00:00.000000');
INSERT INTO "sites" ("name", "document", "findings", "labels", "timezone", "paused", "drain", "wanted_commit", "runner", "epoch", "last_seen", "applied_commit", "locked", "halted", "created_at") VALUES ('harbor', '{"labels": {"zone": "shop"}}', '[]', '{"zone": "shop"}', 'UTC', NULL, 0, 'e20add62edfc9f8e90d5640f745c4d7bd57bada6', 'f0d094e3-edd3-4561-995c-fff768489e29', 1, '2026-03-01 12:00:00.000000', 'cccccccccccccccccccccccccccccccccccccccc', NULL, NULL, '2026-03-01 12:00:00.000000');
INSERT INTO "nodes" ("site", "name", "address", "status", "drain", "last_seen", "labels", "capabilities", "registered_at") VALUES ('harbor', 'harbor-1', '10.0.0.1', 'active', 0, '2026-03-01 12:00:00.000000', '{}', '{}', '2026-03-01 12:00:00.000000');
INSERT INTO "site_tokens" ("id", "site", "digest", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at") VALUES ('845b2c40-063b-4cc5-aecf-e10c4f8210d2', 'harbor', 'e0806f144af79788d96bcd56b4537dfd9f038904fe33191f86b13a1572b5d1b8', 'first', '2026-03-01 12:00:00.000000', NULL, NULL, NULL);
INSERT INTO "site_tokens" ("id", "site", "digest", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at") VALUES ('32a2827d-3fd2-4ade-8a4f-80ccad129a2a', 'harbor', '762f3d7ce32e86e47f6b4dec17e4e6a7a70ff49d9305c90f2d3a55bae3d2f027', 'admin', '2026-03-01 12:00:00.000000', NULL, NULL, '2026-03-01 12:00:00.000000');
INSERT INTO "requests" ("number", "id", "action", "actor", "state", "priority", "rank", "reason", "body", "change", "plan", "idempotency_key", "commit", "branch", "error", "trace", "created_at", "ended_at") VALUES (1, '3c7a04d3-48f7-408b-947e-b516ca0a9ea0', 'create', 'first', 'published', 'normal', 1, NULL, '{"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}', '{"kind": "create", "app": "shop", "version": "1.0.0", "profile": "shop-compose", "parameters": {}, "extensions": {}, "targets": {"c0899714-df3e-491e-91e0-4bb9d963962b": {"id": "c0899714-df3e-491e-91e0-4bb9d963962b", "name": "shop", "device_id": "harbor/*"}}, "contents": {}}', '{"hash": "sha256:454e6db777c373f436df2d7d5d630b35cb81aba71feab345c6ad4476f1e3062a", "sites": [{"site": "harbor", "deployment": null, "name": "shop", "app": "shop", "action": "install", "changes": true, "why": "shop 1.0.0 is not at harbor yet", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', 'once', 'e20add62edfc9f8e90d5640f745c4d7bd57bada6', NULL, NULL, 'feda295d-c699-44b5-826f-1645c75bc980', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
INSERT INTO "requests" ("number", "id", "action", "actor", "state", "priority", "rank", "reason", "body", "change", "plan", "idempotency_key", "commit", "branch", "error", "trace", "created_at", "ended_at") VALUES (2, '9ba24838-4caa-444d-88e0-31695d1d31c6', 'retry', 'first', 'published', 'normal', 1, NULL, '{"action": "retry", "select": {"ids": ["c0899714-df3e-491e-91e0-4bb9d963962b"], "sites": ["harbor"]}}', '{}', '{"hash": "sha256:5ca726f2f21fec2822ffbc99830f1ad9af1f2ba9f52fe7b4a445a81c451efb17", "sites": [{"site": "harbor", "deployment": "c0899714-df3e-491e-91e0-4bb9d963962b", "name": "shop", "app": "shop", "action": "retry", "changes": false, "why": "its runner is told", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', NULL, NULL, NULL, NULL, '227eaada-abe7-4077-87df-3ce83b2fccbd', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
INSERT INTO "requests" ("number", "id", "action", "actor", "state", "priority", "rank", "reason", "body", "change", "plan", "idempotency_key", "commit", "branch", "error", "trace", "created_at", "ended_at") VALUES (3, '982fe49a-e1ef-469c-9e5b-ed46e8950f75', 'create', 'first', 'queued', 'bulk', 2, NULL, '{"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}, "name": "waiting", "priority": "bulk"}', '{"kind": "create", "app": "shop", "version": "1.0.0", "profile": "shop-compose", "parameters": {}, "extensions": {"priority": "bulk"}, "targets": {"53dab42d-12cd-4f2e-bf84-f3f9db8470fc": {"id": "53dab42d-12cd-4f2e-bf84-f3f9db8470fc", "name": "waiting", "device_id": "harbor/*"}}, "contents": {}}', '{"hash": "sha256:e6f9428592aa8a600e54f32c79e383518ba6c5e0e41b682e371e327e8f06bfe5", "sites": [{"site": "harbor", "deployment": null, "name": "waiting", "app": "shop", "action": "install", "changes": true, "why": "shop 1.0.0 is not at harbor yet", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', NULL, NULL, NULL, NULL, '7a7d2330-ebf3-4fcc-b96b-afb13d93f836', '2026-03-01 12:00:00.000000', NULL);
INSERT INTO "deployments" ("key", "id", "site", "name", "app", "state", "outcome", "version", "profile", "node", "in_git", "revision", "document_digest", "document", "parameters", "extensions", "needs", "findings", "commit", "author", "request", "created_at", "updated_at", "deleted_at") VALUES (1, 'c0899714-df3e-491e-91e0-4bb9d963962b', 'harbor', 'shop', 'shop', 'INSTALLED', 'pending', '1.0.0', 'compose', NULL, 1, 'sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b', 'sha256:295845dfb692be9eb2c7c4b3ad463c6f605446d5b959e16b5984a3e89fc2e3ce', 'id: c0899714-df3e-491e-91e0-4bb9d963962b
metadata:
  deviceId: harbor/*
  name: shop
  namespace: default
spec:
  applicationId: shop
  deploymentProfile:
    components:
    - name: shop
      properties:
        repository: oci://registry.margrave.lab:5000/shop
        revision: 1.0.0
      x-margrave-extensions:
        source: components/480344676b14c6ea8461b7c525509f8de59a38f33b417fe181f584b830f82c01
    type: compose
  parameters:
    greeting:
      targets:
      - components:
        - shop
        pointer: GREETING
      value: hello
    port:
      targets:
      - components:
        - shop
        pointer: PORT
      value: 8000
    shelf:
      targets:
      - components:
        - shop
        pointer: SHELF
      value: left
  x-margrave-extensions:
    version: 1.0.0
', '{"greeting":"hello","port":8000,"shelf":"left"}', '{"version":"1.0.0"}', '{"ports":["8000/tcp"],"images":["registry.margrave.lab:5000/shop:1.0.0@sha256:12a32b0b43e4840a8a550aefc5c0fcc97b05cc148b172b98724e425eded3147c"]}', '[]', 'e20add62edfc9f8e90d5640f745c4d7bd57bada6', 'first', '3c7a04d3-48f7-408b-947e-b516ca0a9ea0', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000', NULL);
INSERT INTO "deployments" ("key", "id", "site", "name", "app", "state", "outcome", "version", "profile", "node", "in_git", "revision", "document_digest", "document", "parameters", "extensions", "needs", "findings", "commit", "author", "request", "created_at", "updated_at", "deleted_at") VALUES (2, '53dab42d-12cd-4f2e-bf84-f3f9db8470fc', 'harbor', 'waiting', 'shop', 'PENDING', 'pending', '1.0.0', 'compose', NULL, 0, NULL, NULL, NULL, '{"greeting": "hello", "port": 8000, "shelf": "left"}', '{}', '{"ports": ["8000/tcp"], "images": ["registry.margrave.lab:5000/shop:1.0.0"]}', '[]', NULL, 'first', '982fe49a-e1ef-469c-9e5b-ed46e8950f75', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000', NULL);
INSERT INTO "request_deployments" ("request", "deployment", "site") VALUES (1, 'c0899714-df3e-491e-91e0-4bb9d963962b', 'harbor');
INSERT INTO "request_deployments" ("request", "deployment", "site") VALUES (2, 'c0899714-df3e-491e-91e0-4bb9d963962b', 'harbor');
INSERT INTO "request_deployments" ("request", "deployment", "site") VALUES (3, '53dab42d-12cd-4f2e-bf84-f3f9db8470fc', 'harbor');
INSERT INTO "history" ("id", "deployment", "node", "incarnation", "at", "from_state", "to_state", "actor", "reason", "operation", "attempt", "revision", "version", "commit", "error", "irregular") VALUES (1, 1, 'harbor-1', 1, '2026-03-01 12:00:00.000000', NULL, 'PENDING', 'runner', 'as the test says', NULL, 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, 0);
INSERT INTO "history" ("id", "deployment", "node", "incarnation", "at", "from_state", "to_state", "actor", "reason", "operation", "attempt", "revision", "version", "commit", "error", "irregular") VALUES (2, 1, 'harbor-1', 1, '2026-03-01 12:00:00.000000', 'PENDING', 'INSTALLING', 'runner', 'as the test says', NULL, 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, 0);
INSERT INTO "history" ("id", "deployment", "node", "incarnation", "at", "from_state", "to_state", "actor", "reason", "operation", "attempt", "revision", "version", "commit", "error", "irregular") VALUES (3, 1, 'harbor-1', 1, '2026-03-01 12:00:00.000000', 'INSTALLING', 'INSTALLED', 'node', 'as the test says', '0e000000-0000-4000-8000-000000000001', 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, 0);
INSERT INTO "operations" ("number", "id", "deployment", "site", "node", "kind", "state", "phase", "attempt", "started_at", "ended_at", "fence", "error", "updated_at") VALUES (1, '0e000000-0000-4000-8000-000000000001', 1, 'harbor', 'harbor-1', 'install', 'waiting', 'prefetch', 1, NULL, NULL, NULL, '{"class":"registry","code":"away","message":"it does not answer","cure":"look at it"}', '2026-03-01 12:00:00.000000');
INSERT INTO "placements" ("deployment", "node", "incarnation", "state", "outcome", "revision", "version", "wanted_revision", "wanted_version", "attempt", "reason", "error", "waiting", "health", "drift", "components", "since", "updated_at") VALUES (1, 'harbor-1', 1, 'INSTALLED', 'pending', NULL, NULL, 'sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b', '1.0.0', 1, 'another revision is wanted', NULL, NULL, 'unknown', '[]', '[]', '2026-03-01 12:00:00.000000', '2026-03-01 12:00:00.000000');
INSERT INTO "operation_log" ("operation", "chunk", "at", "lines") VALUES (1, 1, '2026-03-01 12:00:00.000000', X'789C2B284A4D4B2D49CEE0CA484DCC29C9A8E402003BC50655');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (1, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'user.create', 'ada', 'done', '9898acfb-e0f6-4f7d-978a-36bdeed6539d', '{"role": "operator"}', '0000000000000000000000000000000000000000000000000000000000000000', '45218e4c931e518f965c03c9fa9e7d10fa93e816165826a8b7521a1f7b5d26a7');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (2, '2026-03-01 12:00:00.000000', 'ada', '127.0.0.1', 'login', 'ada', 'done', '001fb502-0292-40c8-a53b-d5180296aba2', '{}', '45218e4c931e518f965c03c9fa9e7d10fa93e816165826a8b7521a1f7b5d26a7', '69e581fc5dbb408b09df7b3a891c83dea8a87521d7c9c1a57665c1685d155091');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (3, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'app-source.create', 'own', 'done', '8e568f42-cacc-443b-8dd5-d28b9f2034d1', '{"url": "/tmp/released/apps"}', '69e581fc5dbb408b09df7b3a891c83dea8a87521d7c9c1a57665c1685d155091', '10cba6508af1ad507fab95da995a182e56d15c969c172297646c2643d6d722f7');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (4, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'site.create', 'harbor', 'done', 'e81e4d12-ae87-48ce-a118-3b7b3f9e53e4', '{}', '10cba6508af1ad507fab95da995a182e56d15c969c172297646c2643d6d722f7', 'f406858e64eac95bb01e671bd242ee04d365358333fbf97388c0dbd8bdfe795b');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (5, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'deployment.create', '3c7a04d3-48f7-408b-947e-b516ca0a9ea0', 'done', 'feda295d-c699-44b5-826f-1645c75bc980', '{"deployments": ["c0899714-df3e-491e-91e0-4bb9d963962b"]}', 'f406858e64eac95bb01e671bd242ee04d365358333fbf97388c0dbd8bdfe795b', 'edddc478537214470ec8bf8e35eb75873efc2f6ce5a029af7263d9205170e562');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (6, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'deployment.retry', '9ba24838-4caa-444d-88e0-31695d1d31c6', 'done', '227eaada-abe7-4077-87df-3ce83b2fccbd', '{"deployments": ["c0899714-df3e-491e-91e0-4bb9d963962b"]}', 'edddc478537214470ec8bf8e35eb75873efc2f6ce5a029af7263d9205170e562', '0063ab1f0a2a60bcc7a1833356fd268158e97b4d866278a1e8d22cb64d81cb40');
INSERT INTO "audit" ("id", "at", "actor", "address", "action", "target", "outcome", "trace", "detail", "previous", "hash") VALUES (7, '2026-03-01 12:00:00.000000', 'first', '127.0.0.1', 'deployment.create', '982fe49a-e1ef-469c-9e5b-ed46e8950f75', 'done', '7a7d2330-ebf3-4fcc-b96b-afb13d93f836', '{"deployments": ["53dab42d-12cd-4f2e-bf84-f3f9db8470fc"]}', '0063ab1f0a2a60bcc7a1833356fd268158e97b4d866278a1e8d22cb64d81cb40', 'c4b49ff1598be249d8047f0a627dd03cad712aaff0b400dbf0c1b5ac837deae3');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (1, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"unknown","last_seen":null,"wanted_commit":"0ff5f4218f8c3f68fe371febad0b89d2fb698ac3","applied_commit":null,"paused":null,"drain":false,"locked":null,"halted":null,"nodes":[],"deployments":{},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (2, 'node', 'harbor', NULL, '{"site":"harbor","name":"harbor-1","address":"10.0.0.1","status":"active","drain":false,"last_seen":null,"labels":{},"capabilities":{},"registered_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (3, 'request', NULL, NULL, '{"id":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","action":"create","actor":"first","state":"queued","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (4, 'deployment', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"document_digest":null,"commit":null,"parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","author":"first","in_git":false,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (5, 'request', NULL, NULL, '{"id":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","action":"create","actor":"first","state":"publishing","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (6, 'deployment', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","document_digest":"sha256:295845dfb692be9eb2c7c4b3ad463c6f605446d5b959e16b5984a3e89fc2e3ce","commit":"e20add62edfc9f8e90d5640f745c4d7bd57bada6","parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","author":"first","in_git":true,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (7, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"fresh","last_seen":"2026-03-01T12:00:00.000Z","wanted_commit":"e20add62edfc9f8e90d5640f745c4d7bd57bada6","applied_commit":null,"paused":null,"drain":false,"locked":null,"halted":null,"nodes":["harbor-1"],"deployments":{"PENDING":1},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (8, 'request', NULL, NULL, '{"id":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","action":"create","actor":"first","state":"published","priority":"normal","reason":null,"position":null,"eta":null,"commit":"e20add62edfc9f8e90d5640f745c4d7bd57bada6","branch":null,"deployments":[{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (9, 'placement', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"deployment":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor","node":"harbor-1","incarnation":1,"state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"another revision is wanted","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":null,"to":"PENDING","actor":"runner","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (10, 'placement', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"deployment":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor","node":"harbor-1","incarnation":1,"state":"INSTALLING","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"as the test says","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":"PENDING","to":"INSTALLING","actor":"runner","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (11, 'operation', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"id":"0e000000-0000-4000-8000-000000000001","deployment":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor","node":"harbor-1","kind":"install","state":"running","phase":null,"attempt":1,"started_at":null,"ended_at":null,"fence":{"runner":"f0d094e3-edd3-4561-995c-fff768489e29","epoch":1,"seq":1},"error":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (12, 'log', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"operation":"0e000000-0000-4000-8000-000000000001","lines":["prefetch","healthy"],"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (13, 'operation', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"id":"0e000000-0000-4000-8000-000000000001","deployment":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor","node":"harbor-1","kind":"install","state":"waiting","phase":"prefetch","attempt":1,"started_at":null,"ended_at":null,"fence":null,"error":{"class":"registry","code":"away","message":"it does not answer","cure":"look at it"},"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (14, 'placement', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"deployment":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor","node":"harbor-1","incarnation":1,"state":"INSTALLED","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"another revision is wanted","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":"INSTALLING","to":"INSTALLED","actor":"node","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (15, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"fresh","last_seen":"2026-03-01T12:00:00.000Z","wanted_commit":"e20add62edfc9f8e90d5640f745c4d7bd57bada6","applied_commit":"cccccccccccccccccccccccccccccccccccccccc","paused":null,"drain":false,"locked":null,"halted":null,"nodes":["harbor-1"],"deployments":{"PENDING":1},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","document":{"labels":{"zone":"shop"}},"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (16, 'deployment', 'harbor', 'c0899714-df3e-491e-91e0-4bb9d963962b', '{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"INSTALLED","outcome":"pending","freshness":"fresh","revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","document_digest":"sha256:295845dfb692be9eb2c7c4b3ad463c6f605446d5b959e16b5984a3e89fc2e3ce","commit":"e20add62edfc9f8e90d5640f745c4d7bd57bada6","parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"3c7a04d3-48f7-408b-947e-b516ca0a9ea0","author":"first","in_git":true,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (17, 'request', NULL, NULL, '{"id":"9ba24838-4caa-444d-88e0-31695d1d31c6","action":"retry","actor":"first","state":"queued","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (18, 'request', NULL, NULL, '{"id":"9ba24838-4caa-444d-88e0-31695d1d31c6","action":"retry","actor":"first","state":"published","priority":"normal","reason":null,"position":null,"eta":null,"commit":null,"branch":null,"deployments":[{"id":"c0899714-df3e-491e-91e0-4bb9d963962b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (19, 'request', NULL, NULL, '{"id":"982fe49a-e1ef-469c-9e5b-ed46e8950f75","action":"create","actor":"first","state":"queued","priority":"bulk","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"53dab42d-12cd-4f2e-bf84-f3f9db8470fc","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "events" ("id", "event", "site", "deployment", "data", "at") VALUES (20, 'deployment', 'harbor', '53dab42d-12cd-4f2e-bf84-f3f9db8470fc', '{"id":"53dab42d-12cd-4f2e-bf84-f3f9db8470fc","name":"waiting","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"document_digest":null,"commit":null,"parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"982fe49a-e1ef-469c-9e5b-ed46e8950f75","author":"first","in_git":false,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00.000000');
INSERT INTO "facts" ("name", "value") VALUES ('git.head', '{"commit": "e20add62edfc9f8e90d5640f745c4d7bd57bada6"}');
INSERT INTO "totals" ("name", "label", "value") VALUES ('transition', 'INSTALLED', 1);
INSERT INTO "totals" ("name", "label", "value") VALUES ('transition', 'INSTALLING', 1);
INSERT INTO "totals" ("name", "label", "value") VALUES ('transition', 'PENDING', 1);
INSERT INTO "totals" ("name", "label", "value") VALUES ('rejected', '', 1);
INSERT INTO "commands" ("number", "id", "site", "kind", "data", "state", "request", "actor", "detail", "created_at", "ended_at") VALUES (1, 'c2fdb25a-ec7c-4394-a88f-c09f51633f27', 'harbor', 'retry', '{"deployment": "c0899714-df3e-491e-91e0-4bb9d963962b"}', 'pending', '9ba24838-4caa-444d-88e0-31695d1d31c6', 'first', NULL, '2026-03-01 12:00:00.000000', NULL);
INSERT INTO "rejected_reports" ("id", "site", "runner", "epoch", "seq", "body", "finding", "at") VALUES (1, 'harbor', 'f0d094e3-edd3-4561-995c-fff768489e29', 1, 9, '{"seq": 9, "at": "2026-03-01T12:00:00+00:00", "kind": "placement", "data": {"unreadable": true}}', 'deployment: Field required', '2026-03-01 12:00:00.000000');
INSERT INTO "report_cursors" ("site", "runner", "epoch", "next_seq", "updated_at") VALUES ('harbor', 'f0d094e3-edd3-4561-995c-fff768489e29', 1, 10, '2026-03-01 12:00:00.000000');
CREATE VIRTUAL TABLE deployment_search USING fts5(words, tokenize = 'trigram');
INSERT INTO deployment_search (rowid, words) SELECT key, search FROM deployments;
CREATE INDEX ix_app_versions_source ON app_versions (source);
CREATE INDEX ix_app_version_components_digest ON app_version_components (digest);
CREATE INDEX ix_login_sessions_expires_at ON login_sessions (expires_at);
CREATE INDEX ix_login_sessions_user ON login_sessions (user);
CREATE INDEX ix_tokens_user ON tokens (user);
CREATE INDEX ix_site_tokens_site ON site_tokens (site);
CREATE INDEX ix_requests_queue ON requests (state, rank, number);
CREATE INDEX ix_deployments_app_key ON deployments (app, "key");
CREATE INDEX ix_deployments_counts ON deployments (site, state, outcome);
CREATE INDEX ix_deployments_id ON deployments (id);
CREATE INDEX ix_deployments_name_key ON deployments (name, "key");
CREATE INDEX ix_deployments_outcome_key ON deployments (outcome, "key");
CREATE INDEX ix_deployments_site_key ON deployments (site, "key");
CREATE INDEX ix_deployments_site_name ON deployments (site, name);
CREATE INDEX ix_deployments_state_key ON deployments (state, "key");
CREATE INDEX ix_deployments_updated_key ON deployments (updated_at, "key");
CREATE INDEX ix_history_deployment ON history (deployment, id);
CREATE INDEX ix_operations_deployment ON operations (deployment);
CREATE INDEX ix_operations_open ON operations (state) WHERE state IN ('running', 'waiting');
CREATE INDEX ix_operations_site ON operations (site);
CREATE INDEX ix_operation_log_at ON operation_log (at);
CREATE INDEX ix_events_at ON events (at);
CREATE INDEX ix_commands_open ON commands (site, state, number);
CREATE INDEX ix_rejected_reports_at ON rejected_reports (at);
CREATE INDEX ix_rejected_reports_site ON rejected_reports (site);
CREATE TRIGGER deployment_search_new AFTER INSERT ON deployments BEGIN
        INSERT INTO deployment_search (rowid, words) VALUES (new.key, new.search);
    END;
CREATE TRIGGER deployment_search_gone AFTER DELETE ON deployments BEGIN
        DELETE FROM deployment_search WHERE rowid = old.key;
    END;
CREATE TRIGGER deployment_search_changed
    AFTER UPDATE OF name, app, site, id ON deployments BEGIN
        UPDATE deployment_search SET words = new.search WHERE rowid = new.key;
    END;
COMMIT;
