--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: app_sources; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.app_sources (
    name character varying(63) NOT NULL,
    url text NOT NULL,
    ref character varying(255),
    path character varying(255) NOT NULL,
    credentials json,
    commit character varying(64),
    error text,
    findings json NOT NULL,
    synced_at timestamp without time zone,
    created_at timestamp without time zone NOT NULL
);


--
-- Name: app_version_components; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.app_version_components (
    version_id bigint NOT NULL,
    path character varying(1024) NOT NULL,
    digest character varying(71) NOT NULL
);


--
-- Name: app_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.app_versions (
    id bigint NOT NULL,
    app_id character varying(200) NOT NULL,
    version character varying(255) NOT NULL,
    source character varying(63),
    folder text NOT NULL,
    commit character varying(64),
    digest character varying(71) NOT NULL,
    name character varying(255) NOT NULL,
    about text NOT NULL,
    text text NOT NULL,
    description json NOT NULL,
    findings json NOT NULL,
    usable boolean NOT NULL,
    created_at timestamp without time zone NOT NULL
);


--
-- Name: app_versions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.app_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: app_versions_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.app_versions_id_seq OWNED BY public.app_versions.id;


--
-- Name: apps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.apps (
    id character varying(200) NOT NULL,
    newest character varying(255),
    created_at timestamp without time zone NOT NULL
);


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp without time zone NOT NULL,
    actor character varying(255) NOT NULL,
    address character varying(255),
    action character varying(255) NOT NULL,
    target text NOT NULL,
    outcome character varying(255) NOT NULL,
    trace character varying(255),
    detail json NOT NULL,
    previous character varying(64) NOT NULL,
    hash character varying(64) NOT NULL
);


--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: audit_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.audit_id_seq OWNED BY public.audit.id;


--
-- Name: commands; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.commands (
    number bigint NOT NULL,
    id character varying(36) NOT NULL,
    site character varying(63) NOT NULL,
    kind character varying(24) NOT NULL,
    data json NOT NULL,
    state character varying(24) NOT NULL,
    request character varying(36),
    actor character varying(255) NOT NULL,
    detail text,
    created_at timestamp without time zone NOT NULL,
    ended_at timestamp without time zone
);


--
-- Name: commands_number_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.commands_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: commands_number_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.commands_number_seq OWNED BY public.commands.number;


--
-- Name: components; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.components (
    digest character varying(71) NOT NULL,
    archive bytea NOT NULL,
    size integer NOT NULL,
    created_at timestamp without time zone NOT NULL
);


--
-- Name: deployments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.deployments (
    key bigint NOT NULL,
    id character varying(36) NOT NULL,
    site character varying(63) NOT NULL,
    name character varying(255) NOT NULL,
    app character varying(200) NOT NULL,
    search text GENERATED ALWAYS AS (lower((((((((name)::text || ' '::text) || (app)::text) || ' '::text) || (site)::text) || ' '::text) || (id)::text))) STORED NOT NULL,
    state character varying(24) NOT NULL,
    outcome character varying(24) NOT NULL,
    version character varying(255),
    profile character varying(255) NOT NULL,
    node character varying(63),
    in_git boolean NOT NULL,
    revision character varying(71),
    document_digest character varying(71),
    document text,
    parameters json NOT NULL,
    extensions json NOT NULL,
    needs json NOT NULL,
    findings json NOT NULL,
    commit character varying(64),
    author character varying(255),
    request character varying(36),
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL,
    deleted_at timestamp without time zone
);


--
-- Name: deployments_key_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.deployments_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: deployments_key_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.deployments_key_seq OWNED BY public.deployments.key;


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    id bigint NOT NULL,
    event character varying(24) NOT NULL,
    site character varying(63),
    deployment character varying(36),
    data json NOT NULL,
    at timestamp without time zone NOT NULL
);


--
-- Name: events_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: events_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.events_id_seq OWNED BY public.events.id;


--
-- Name: facts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.facts (
    name character varying(63) NOT NULL,
    value json NOT NULL
);


--
-- Name: history; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.history (
    id bigint NOT NULL,
    deployment bigint NOT NULL,
    node character varying(63) NOT NULL,
    incarnation integer NOT NULL,
    at timestamp without time zone NOT NULL,
    from_state character varying(24),
    to_state character varying(24) NOT NULL,
    actor character varying(255) NOT NULL,
    reason text,
    operation character varying(36),
    attempt integer NOT NULL,
    revision character varying(71),
    version character varying(255),
    commit character varying(64),
    error json,
    irregular boolean NOT NULL
);


--
-- Name: history_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: history_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.history_id_seq OWNED BY public.history.id;


--
-- Name: login_sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_sessions (
    digest character varying(64) NOT NULL,
    "user" character varying(63) NOT NULL,
    csrf character varying(255) NOT NULL,
    created_at timestamp without time zone NOT NULL,
    expires_at timestamp without time zone NOT NULL
);


--
-- Name: nodes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.nodes (
    site character varying(63) NOT NULL,
    name character varying(63) NOT NULL,
    address character varying(255),
    status character varying(255),
    drain boolean NOT NULL,
    last_seen timestamp without time zone,
    labels json NOT NULL,
    capabilities json NOT NULL,
    registered_at timestamp without time zone NOT NULL
);


--
-- Name: operation_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operation_log (
    operation bigint NOT NULL,
    chunk bigint NOT NULL,
    at timestamp without time zone NOT NULL,
    lines bytea NOT NULL
);


--
-- Name: operations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.operations (
    number bigint NOT NULL,
    id character varying(36) NOT NULL,
    deployment bigint NOT NULL,
    site character varying(63) NOT NULL,
    node character varying(63) NOT NULL,
    kind character varying(24) NOT NULL,
    state character varying(24) NOT NULL,
    phase character varying(255),
    attempt integer NOT NULL,
    started_at timestamp without time zone,
    ended_at timestamp without time zone,
    fence json,
    error json,
    updated_at timestamp without time zone NOT NULL
);


--
-- Name: operations_number_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.operations_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: operations_number_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.operations_number_seq OWNED BY public.operations.number;


--
-- Name: placements; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.placements (
    deployment bigint NOT NULL,
    node character varying(63) NOT NULL,
    incarnation integer NOT NULL,
    state character varying(24) NOT NULL,
    outcome character varying(24) NOT NULL,
    revision character varying(71),
    version character varying(255),
    wanted_revision character varying(71),
    wanted_version character varying(255),
    attempt integer NOT NULL,
    reason text,
    error json,
    waiting json,
    health character varying(255) NOT NULL,
    drift json NOT NULL,
    components json NOT NULL,
    since timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL
);


--
-- Name: rejected_reports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rejected_reports (
    id bigint NOT NULL,
    site character varying(63) NOT NULL,
    runner character varying(36) NOT NULL,
    epoch bigint NOT NULL,
    seq bigint NOT NULL,
    body text NOT NULL,
    finding text NOT NULL,
    at timestamp without time zone NOT NULL
);


--
-- Name: rejected_reports_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.rejected_reports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: rejected_reports_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.rejected_reports_id_seq OWNED BY public.rejected_reports.id;


--
-- Name: report_cursors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.report_cursors (
    site character varying(63) NOT NULL,
    runner character varying(36) NOT NULL,
    epoch bigint NOT NULL,
    next_seq bigint NOT NULL,
    updated_at timestamp without time zone NOT NULL
);


--
-- Name: request_deployments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.request_deployments (
    request bigint NOT NULL,
    deployment character varying(36) NOT NULL,
    site character varying(63) NOT NULL
);


--
-- Name: requests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.requests (
    number bigint NOT NULL,
    id character varying(36) NOT NULL,
    action character varying(24) NOT NULL,
    actor character varying(255) NOT NULL,
    state character varying(24) NOT NULL,
    priority character varying(24) NOT NULL,
    rank integer NOT NULL,
    reason text,
    body json NOT NULL,
    change json NOT NULL,
    plan json,
    idempotency_key character varying(255),
    commit character varying(64),
    branch json,
    error json,
    trace character varying(255),
    created_at timestamp without time zone NOT NULL,
    ended_at timestamp without time zone
);


--
-- Name: requests_number_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.requests_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: requests_number_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.requests_number_seq OWNED BY public.requests.number;


--
-- Name: site_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.site_tokens (
    id character varying(36) NOT NULL,
    site character varying(63) NOT NULL,
    digest character varying(64) NOT NULL,
    created_by character varying(255) NOT NULL,
    created_at timestamp without time zone NOT NULL,
    expires_at timestamp without time zone,
    revoked_at timestamp without time zone,
    last_used_at timestamp without time zone
);


--
-- Name: sites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sites (
    name character varying(63) NOT NULL,
    document json NOT NULL,
    findings json NOT NULL,
    labels json NOT NULL,
    timezone character varying(255),
    paused json,
    drain boolean NOT NULL,
    wanted_commit character varying(64),
    runner character varying(36),
    epoch integer,
    last_seen timestamp without time zone,
    applied_commit character varying(64),
    locked json,
    halted json,
    created_at timestamp without time zone NOT NULL
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    digest character varying(64) NOT NULL,
    role character varying(24) NOT NULL,
    sites json,
    "user" character varying(63),
    created_by character varying(255) NOT NULL,
    created_at timestamp without time zone NOT NULL,
    expires_at timestamp without time zone,
    revoked_at timestamp without time zone,
    last_used_at timestamp without time zone
);


--
-- Name: totals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.totals (
    name character varying(63) NOT NULL,
    label character varying(255) NOT NULL,
    value bigint NOT NULL
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    name character varying(63) NOT NULL,
    password_hash text NOT NULL,
    role character varying(24) NOT NULL,
    sites json,
    disabled boolean NOT NULL,
    created_at timestamp without time zone NOT NULL
);


--
-- Name: app_versions id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_versions ALTER COLUMN id SET DEFAULT nextval('public.app_versions_id_seq'::regclass);


--
-- Name: audit id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit ALTER COLUMN id SET DEFAULT nextval('public.audit_id_seq'::regclass);


--
-- Name: commands number; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands ALTER COLUMN number SET DEFAULT nextval('public.commands_number_seq'::regclass);


--
-- Name: deployments key; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deployments ALTER COLUMN key SET DEFAULT nextval('public.deployments_key_seq'::regclass);


--
-- Name: events id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events ALTER COLUMN id SET DEFAULT nextval('public.events_id_seq'::regclass);


--
-- Name: history id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.history ALTER COLUMN id SET DEFAULT nextval('public.history_id_seq'::regclass);


--
-- Name: operations number; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations ALTER COLUMN number SET DEFAULT nextval('public.operations_number_seq'::regclass);


--
-- Name: rejected_reports id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejected_reports ALTER COLUMN id SET DEFAULT nextval('public.rejected_reports_id_seq'::regclass);


--
-- Name: requests number; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.requests ALTER COLUMN number SET DEFAULT nextval('public.requests_number_seq'::regclass);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.alembic_version VALUES ('0006');


--
-- Data for Name: app_sources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_sources VALUES ('own', '/tmp/released/apps', NULL, '', NULL, NULL, NULL, '[]', '2026-03-01 12:00:00', '2026-03-01 12:00:00');


--
-- Data for Name: app_version_components; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_version_components VALUES (1, 'compose', 'sha256:7c1861d108dae078759122c3742ff117632faf115133f2a6bc0969e3774c3397');
INSERT INTO public.app_version_components VALUES (2, 'compose', 'sha256:5708b8aa1718b7b803fe0dfcf7dc2c56f2b8e7a30fe714ac3e7e25f9b4728359');


--
-- Data for Name: app_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_versions VALUES (1, 'shop', '1.0.0', 'own', 'shop/1.0.0', NULL, 'sha256:9208461df67b1c1eae4027a37a004dc4aab16cf644eddb6269efad2715b4d09a', 'Shop', '', 'apiVersion: v1
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
', '{"apiVersion": "v1", "configuration": {"schema": [{"dataType": "string", "name": "greeting"}, {"dataType": "integer", "name": "port"}, {"dataType": "string", "name": "shelf"}], "sections": [{"name": "All", "settings": [{"name": "Greeting", "parameter": "greeting", "schema": "greeting"}, {"name": "Port", "parameter": "port", "schema": "port"}, {"immutable": true, "name": "Shelf", "parameter": "shelf", "schema": "shelf"}]}]}, "deploymentProfiles": [{"components": [{"name": "shop", "properties": {"repository": "oci://registry.margrave.lab:5000/shop", "revision": "1.0.0"}, "x-margrave-extensions": {"path": "./compose"}}], "id": "shop-compose", "type": "compose"}], "id": "shop", "metadata": {"catalog": {"organization": [{"name": "Margrave tests"}]}, "name": "Shop", "version": "1.0.0"}, "parameters": {"greeting": {"targets": [{"components": ["shop"], "pointer": "GREETING"}], "value": "hello"}, "port": {"targets": [{"components": ["shop"], "pointer": "PORT"}], "value": 8000}, "shelf": {"targets": [{"components": ["shop"], "pointer": "SHELF"}], "value": "left"}}}', '[]', true, '2026-03-01 12:00:00');
INSERT INTO public.app_versions VALUES (2, 'shop', '1.1.0', 'own', 'shop/1.1.0', NULL, 'sha256:2985d3a2952c720d3031aba6a1a05bd6a80dd58376f11d3dea0a4d89e9c5e208', 'Shop', '', 'apiVersion: v1
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
', '{"apiVersion": "v1", "configuration": {"schema": [{"dataType": "string", "name": "greeting"}, {"dataType": "integer", "name": "port"}, {"dataType": "string", "name": "shelf"}], "sections": [{"name": "All", "settings": [{"name": "Greeting", "parameter": "greeting", "schema": "greeting"}, {"name": "Port", "parameter": "port", "schema": "port"}, {"immutable": true, "name": "Shelf", "parameter": "shelf", "schema": "shelf"}]}]}, "deploymentProfiles": [{"components": [{"name": "shop", "properties": {"repository": "oci://registry.margrave.lab:5000/shop", "revision": "1.1.0"}, "x-margrave-extensions": {"path": "./compose"}}], "id": "shop-compose", "type": "compose"}], "id": "shop", "metadata": {"catalog": {"organization": [{"name": "Margrave tests"}]}, "name": "Shop", "version": "1.1.0"}, "parameters": {"greeting": {"targets": [{"components": ["shop"], "pointer": "GREETING"}], "value": "hello"}, "port": {"targets": [{"components": ["shop"], "pointer": "PORT"}], "value": 8000}, "shelf": {"targets": [{"components": ["shop"], "pointer": "SHELF"}], "value": "left"}}}', '[]', true, '2026-03-01 12:00:00');


--
-- Data for Name: apps; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.apps VALUES ('shop', '1.1.0', '2026-03-01 12:00:00');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES (1, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'user.create', 'ada', 'done', '947b57e7-2a7a-4314-8d74-2fcf1edbbbe6', '{"role": "operator"}', '0000000000000000000000000000000000000000000000000000000000000000', '7bf99352f3c6897113b8d3046d0c52f8bff86116187e645d164d6221ff06b4fc');
INSERT INTO public.audit VALUES (2, '2026-03-01 12:00:00', 'ada', '127.0.0.1', 'login', 'ada', 'done', '7ac9abb5-ea8f-4718-a733-0acc490acaa1', '{}', '7bf99352f3c6897113b8d3046d0c52f8bff86116187e645d164d6221ff06b4fc', '67a62ed723a5ab749fafe4c073299b87b1b25877be4ca9aab9a866c70fc62525');
INSERT INTO public.audit VALUES (3, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'app-source.create', 'own', 'done', '564f4174-27ac-4a06-b721-c47bff6f5e65', '{"url": "/tmp/released/apps"}', '67a62ed723a5ab749fafe4c073299b87b1b25877be4ca9aab9a866c70fc62525', '6440f24dcb5c95c9a7f40fdcb6ef168a89acfcdaf999de276ff4de81298db9bf');
INSERT INTO public.audit VALUES (4, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'site.create', 'harbor', 'done', 'ab294c8d-1c01-40a9-bc29-0a991c53ffc2', '{}', '6440f24dcb5c95c9a7f40fdcb6ef168a89acfcdaf999de276ff4de81298db9bf', '06ea9137ca28009d723d70bd63654e992afea0fb8e89ab37e511f384b2fa832f');
INSERT INTO public.audit VALUES (5, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'deployment.create', '90f6bb69-e33d-42b5-9bd0-0fdc88d51dab', 'done', '433a9471-fb29-4f82-a1f8-1127e8cbf006', '{"deployments": ["00b71de8-4052-4559-96c0-0147b1786f7b"]}', '06ea9137ca28009d723d70bd63654e992afea0fb8e89ab37e511f384b2fa832f', '1b1a4638e0b0231207dc42fe3912282ef90467523983e4be12027177ce396c44');
INSERT INTO public.audit VALUES (6, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'deployment.retry', '51bea4ee-a18d-4ef3-a0e1-a71311d2934c', 'done', 'f0225f33-467f-484d-bea7-0a6151b68477', '{"deployments": ["00b71de8-4052-4559-96c0-0147b1786f7b"]}', '1b1a4638e0b0231207dc42fe3912282ef90467523983e4be12027177ce396c44', '4cabda251e17995e4a9f260dec6fdb271a6e36327336515a2d90b1cec821a90d');
INSERT INTO public.audit VALUES (7, '2026-03-01 12:00:00', 'first', '127.0.0.1', 'deployment.create', 'ab2afd48-a6d9-45e0-8047-8ed3416323eb', 'done', 'd1afa435-6d1a-4864-b411-0e3db3649fe5', '{"deployments": ["176d087d-c1e1-40a0-ab55-b1d36c5bb88a"]}', '4cabda251e17995e4a9f260dec6fdb271a6e36327336515a2d90b1cec821a90d', '18fcd4159c03613d7c50f77741685ea659d3448be88640a0d409140b103a3ebf');


--
-- Data for Name: commands; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.commands VALUES (1, '5d247aba-569a-423c-aa40-9140ce5f7511', 'harbor', 'retry', '{"deployment": "00b71de8-4052-4559-96c0-0147b1786f7b"}', 'pending', '51bea4ee-a18d-4ef3-a0e1-a71311d2934c', 'first', NULL, '2026-03-01 12:00:00', NULL);


--
-- Data for Name: components; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.components VALUES ('sha256:7c1861d108dae078759122c3742ff117632faf115133f2a6bc0969e3774c3397', '\x789cedd1414bc33018c6f19df72942f128319b9b4aee750aa23277130fd908b5b03425a99521fdeec60843bc4f77f8ff2e4ff2869737241bef5a1faddc19b71d1d884a2e66b39cc9ef54d3f3fdd9777da2a697f3915087bad04f6fb133218dff8b594728dad0d71b1bf5588877bbfe0a216a672aab45b0551dbbb093ce842a98decaad59eb79faa2b3f8ea5b3d914aaadc609bbe0ebe71b6e9b4f8582ccb72757bbfd0a238d96f86e2543cdd9477d7b99a574331e4eed6872e6af19cea8f0fcbd5a0afd288e265fcdf6f0300000000000000000000000000c7ec1397d03f20', 10240, '2026-03-01 12:00:00');
INSERT INTO public.components VALUES ('sha256:5708b8aa1718b7b803fe0dfcf7dc2c56f2b8e7a30fe714ac3e7e25f9b4728359', '\x789cedd14d6b0231100660cffe8a61f15862d66a2bb9af1f506ab1de4a0f518675c16c9664dd22b2ffbd690a22defd38bccfe54d260c13928d3595f52c0edaec3a57228397e13066709972f07c3afbafa772f03aea90bcd685ceed7dad5d187f8b590fc8b36b8a0d7bd525fae1f55f101546e7acc8715ef8da1d84d12e77ba61b1d36b350a5fd4f75b5ba954a442c6062e9bc2d9d270592b3a4e9759b69abf4f1525bdd3a64d9ee87396bd4d6235aedaa48ddd9575b557f415ea1f8be5aa55e33022f9eedefb6d0000000000000000000000000000000000001ed92fbd923f21', 10240, '2026-03-01 12:00:00');


--
-- Data for Name: deployments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.deployments VALUES (1, '00b71de8-4052-4559-96c0-0147b1786f7b', 'harbor', 'shop', 'shop', DEFAULT, 'INSTALLED', 'pending', '1.0.0', 'compose', NULL, true, 'sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b', 'sha256:1e40e775fe961a784ed56e06fbe2af22c968ca98814e815656266fcec8a9a2d0', 'id: 00b71de8-4052-4559-96c0-0147b1786f7b
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
', '{"greeting":"hello","port":8000,"shelf":"left"}', '{"version":"1.0.0"}', '{"ports":["8000/tcp"],"images":["registry.margrave.lab:5000/shop:1.0.0@sha256:12a32b0b43e4840a8a550aefc5c0fcc97b05cc148b172b98724e425eded3147c"]}', '[]', 'b40edd740b34d252dd4b68dd4e0c53866be12b50', 'first', '90f6bb69-e33d-42b5-9bd0-0fdc88d51dab', '2026-03-01 12:00:00', '2026-03-01 12:00:00', NULL);
INSERT INTO public.deployments VALUES (2, '176d087d-c1e1-40a0-ab55-b1d36c5bb88a', 'harbor', 'waiting', 'shop', DEFAULT, 'PENDING', 'pending', '1.0.0', 'compose', NULL, false, NULL, NULL, NULL, '{"greeting": "hello", "port": 8000, "shelf": "left"}', '{}', '{"ports": ["8000/tcp"], "images": ["registry.margrave.lab:5000/shop:1.0.0"]}', '[]', NULL, 'first', 'ab2afd48-a6d9-45e0-8047-8ed3416323eb', '2026-03-01 12:00:00', '2026-03-01 12:00:00', NULL);


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events VALUES (1, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"unknown","last_seen":null,"wanted_commit":"ea6d173f45fd81fa8b98db5ab293a5cb724f9bbe","applied_commit":null,"paused":null,"drain":false,"locked":null,"halted":null,"nodes":[],"deployments":{},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (2, 'node', 'harbor', NULL, '{"site":"harbor","name":"harbor-1","address":"10.0.0.1","status":"active","drain":false,"last_seen":null,"labels":{},"capabilities":{},"registered_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (3, 'request', NULL, NULL, '{"id":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","action":"create","actor":"first","state":"queued","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (4, 'deployment', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"document_digest":null,"commit":null,"parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","author":"first","in_git":false,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (5, 'request', NULL, NULL, '{"id":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","action":"create","actor":"first","state":"publishing","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (6, 'deployment', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","document_digest":"sha256:1e40e775fe961a784ed56e06fbe2af22c968ca98814e815656266fcec8a9a2d0","commit":"b40edd740b34d252dd4b68dd4e0c53866be12b50","parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","author":"first","in_git":true,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (7, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"fresh","last_seen":"2026-03-01T12:00:00.000Z","wanted_commit":"b40edd740b34d252dd4b68dd4e0c53866be12b50","applied_commit":null,"paused":null,"drain":false,"locked":null,"halted":null,"nodes":["harbor-1"],"deployments":{"PENDING":1},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (8, 'request', NULL, NULL, '{"id":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","action":"create","actor":"first","state":"published","priority":"normal","reason":null,"position":null,"eta":null,"commit":"b40edd740b34d252dd4b68dd4e0c53866be12b50","branch":null,"deployments":[{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (9, 'placement', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"deployment":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor","node":"harbor-1","incarnation":1,"state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"another revision is wanted","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":null,"to":"PENDING","actor":"runner","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (10, 'placement', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"deployment":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor","node":"harbor-1","incarnation":1,"state":"INSTALLING","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"as the test says","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":"PENDING","to":"INSTALLING","actor":"runner","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (11, 'operation', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"id":"0e000000-0000-4000-8000-000000000001","deployment":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor","node":"harbor-1","kind":"install","state":"running","phase":null,"attempt":1,"started_at":null,"ended_at":null,"fence":{"runner":"01f83522-94be-4fae-aa0f-4f585847d4e3","epoch":1,"seq":1},"error":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (12, 'log', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"operation":"0e000000-0000-4000-8000-000000000001","lines":["prefetch","healthy"],"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (13, 'operation', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"id":"0e000000-0000-4000-8000-000000000001","deployment":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor","node":"harbor-1","kind":"install","state":"waiting","phase":"prefetch","attempt":1,"started_at":null,"ended_at":null,"fence":null,"error":{"class":"registry","code":"away","message":"it does not answer","cure":"look at it"},"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (14, 'placement', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"deployment":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor","node":"harbor-1","incarnation":1,"state":"INSTALLED","outcome":"pending","freshness":"fresh","revision":null,"version":null,"wanted_revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","wanted_version":"1.0.0","attempt":1,"reason":"another revision is wanted","error":null,"waiting":null,"health":"unknown","drift":[],"components":[],"since":"2026-03-01T12:00:00.000Z","from":"INSTALLING","to":"INSTALLED","actor":"node","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (15, 'site', 'harbor', NULL, '{"name":"harbor","labels":{"zone":"shop"},"timezone":"UTC","freshness":"fresh","last_seen":"2026-03-01T12:00:00.000Z","wanted_commit":"b40edd740b34d252dd4b68dd4e0c53866be12b50","applied_commit":"cccccccccccccccccccccccccccccccccccccccc","paused":null,"drain":false,"locked":null,"halted":null,"nodes":["harbor-1"],"deployments":{"PENDING":1},"findings":[],"created_at":"2026-03-01T12:00:00.000Z","document":{"labels":{"zone":"shop"}},"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (19, 'request', NULL, NULL, '{"id":"ab2afd48-a6d9-45e0-8047-8ed3416323eb","action":"create","actor":"first","state":"queued","priority":"bulk","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"176d087d-c1e1-40a0-ab55-b1d36c5bb88a","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (16, 'deployment', 'harbor', '00b71de8-4052-4559-96c0-0147b1786f7b', '{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","name":"shop","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"INSTALLED","outcome":"pending","freshness":"fresh","revision":"sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b","document_digest":"sha256:1e40e775fe961a784ed56e06fbe2af22c968ca98814e815656266fcec8a9a2d0","commit":"b40edd740b34d252dd4b68dd4e0c53866be12b50","parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"90f6bb69-e33d-42b5-9bd0-0fdc88d51dab","author":"first","in_git":true,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (17, 'request', NULL, NULL, '{"id":"51bea4ee-a18d-4ef3-a0e1-a71311d2934c","action":"retry","actor":"first","state":"queued","priority":"normal","reason":null,"position":1,"eta":"2026-03-01T12:00:01.000Z","commit":null,"branch":null,"deployments":[{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (18, 'request', NULL, NULL, '{"id":"51bea4ee-a18d-4ef3-a0e1-a71311d2934c","action":"retry","actor":"first","state":"published","priority":"normal","reason":null,"position":null,"eta":null,"commit":null,"branch":null,"deployments":[{"id":"00b71de8-4052-4559-96c0-0147b1786f7b","site":"harbor"}],"error":null,"created_at":"2026-03-01T12:00:00.000Z","ended_at":"2026-03-01T12:00:00.000Z","at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');
INSERT INTO public.events VALUES (20, 'deployment', 'harbor', '176d087d-c1e1-40a0-ab55-b1d36c5bb88a', '{"id":"176d087d-c1e1-40a0-ab55-b1d36c5bb88a","name":"waiting","app":"shop","version":"1.0.0","profile":"compose","site":"harbor","state":"PENDING","outcome":"pending","freshness":"fresh","revision":null,"document_digest":null,"commit":null,"parameters":{"greeting":"hello","port":8000,"shelf":"left"},"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","request":"ab2afd48-a6d9-45e0-8047-8ed3416323eb","author":"first","in_git":false,"findings":[],"deleted_at":null,"at":"2026-03-01T12:00:00.000Z"}', '2026-03-01 12:00:00');


--
-- Data for Name: facts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.facts VALUES ('git.head', '{"commit": "b40edd740b34d252dd4b68dd4e0c53866be12b50"}');


--
-- Data for Name: history; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.history VALUES (1, 1, 'harbor-1', 1, '2026-03-01 12:00:00', NULL, 'PENDING', 'runner', 'as the test says', NULL, 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, false);
INSERT INTO public.history VALUES (2, 1, 'harbor-1', 1, '2026-03-01 12:00:00', 'PENDING', 'INSTALLING', 'runner', 'as the test says', NULL, 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, false);
INSERT INTO public.history VALUES (3, 1, 'harbor-1', 1, '2026-03-01 12:00:00', 'INSTALLING', 'INSTALLED', 'node', 'as the test says', '0e000000-0000-4000-8000-000000000001', 1, 'sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '1.0.0', NULL, NULL, false);


--
-- Data for Name: login_sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.login_sessions VALUES ('98fe1172cb0c6dab76513426034498cee1584b553af96dddf4937ddf84236bc0', 'ada', 'Rt1nQW5mGFbLHmYEfJhZc72UA16RWQfa', '2026-03-01 12:00:00', '2026-03-02 00:00:00');


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.nodes VALUES ('harbor', 'harbor-1', '10.0.0.1', 'active', false, '2026-03-01 12:00:00', '{}', '{}', '2026-03-01 12:00:00');


--
-- Data for Name: operation_log; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operation_log VALUES (1, 1, '2026-03-01 12:00:00', '\x789c2b284a4d4b2d49cee0ca484dcc29c9a8e402003bc50655');


--
-- Data for Name: operations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.operations VALUES (1, '0e000000-0000-4000-8000-000000000001', 1, 'harbor', 'harbor-1', 'install', 'waiting', 'prefetch', 1, NULL, NULL, NULL, '{"class":"registry","code":"away","message":"it does not answer","cure":"look at it"}', '2026-03-01 12:00:00');


--
-- Data for Name: placements; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.placements VALUES (1, 'harbor-1', 1, 'INSTALLED', 'pending', NULL, NULL, 'sha256:69205e139f2f0fa9aee47a21a6dd37670e6b75fdd2f43aa056f415a7a2ad343b', '1.0.0', 1, 'another revision is wanted', NULL, NULL, 'unknown', '[]', '[]', '2026-03-01 12:00:00', '2026-03-01 12:00:00');


--
-- Data for Name: rejected_reports; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.rejected_reports VALUES (1, 'harbor', '01f83522-94be-4fae-aa0f-4f585847d4e3', 1, 9, '{"seq": 9, "at": "2026-03-01T12:00:00+00:00", "kind": "placement", "data": {"unreadable": true}}', 'deployment: Field required', '2026-03-01 12:00:00');


--
-- Data for Name: report_cursors; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.report_cursors VALUES ('harbor', '01f83522-94be-4fae-aa0f-4f585847d4e3', 1, 10, '2026-03-01 12:00:00');


--
-- Data for Name: request_deployments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.request_deployments VALUES (1, '00b71de8-4052-4559-96c0-0147b1786f7b', 'harbor');
INSERT INTO public.request_deployments VALUES (2, '00b71de8-4052-4559-96c0-0147b1786f7b', 'harbor');
INSERT INTO public.request_deployments VALUES (3, '176d087d-c1e1-40a0-ab55-b1d36c5bb88a', 'harbor');


--
-- Data for Name: requests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.requests VALUES (1, '90f6bb69-e33d-42b5-9bd0-0fdc88d51dab', 'create', 'first', 'published', 'normal', 1, NULL, '{"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}', '{"kind": "create", "app": "shop", "version": "1.0.0", "profile": "shop-compose", "parameters": {}, "extensions": {}, "targets": {"00b71de8-4052-4559-96c0-0147b1786f7b": {"id": "00b71de8-4052-4559-96c0-0147b1786f7b", "name": "shop", "device_id": "harbor/*"}}, "contents": {}}', '{"hash": "sha256:454e6db777c373f436df2d7d5d630b35cb81aba71feab345c6ad4476f1e3062a", "sites": [{"site": "harbor", "deployment": null, "name": "shop", "app": "shop", "action": "install", "changes": true, "why": "shop 1.0.0 is not at harbor yet", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', 'once', 'b40edd740b34d252dd4b68dd4e0c53866be12b50', NULL, NULL, '433a9471-fb29-4f82-a1f8-1127e8cbf006', '2026-03-01 12:00:00', '2026-03-01 12:00:00');
INSERT INTO public.requests VALUES (2, '51bea4ee-a18d-4ef3-a0e1-a71311d2934c', 'retry', 'first', 'published', 'normal', 1, NULL, '{"action": "retry", "select": {"ids": ["00b71de8-4052-4559-96c0-0147b1786f7b"], "sites": ["harbor"]}}', '{}', '{"hash": "sha256:0db5dc6de17cf1a46573e5b0f3b7bac3fda2f2d22ced4b682af85f71b09cce04", "sites": [{"site": "harbor", "deployment": "00b71de8-4052-4559-96c0-0147b1786f7b", "name": "shop", "app": "shop", "action": "retry", "changes": false, "why": "its runner is told", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', NULL, NULL, NULL, NULL, 'f0225f33-467f-484d-bea7-0a6151b68477', '2026-03-01 12:00:00', '2026-03-01 12:00:00');
INSERT INTO public.requests VALUES (3, 'ab2afd48-a6d9-45e0-8047-8ed3416323eb', 'create', 'first', 'queued', 'bulk', 2, NULL, '{"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}, "name": "waiting", "priority": "bulk"}', '{"kind": "create", "app": "shop", "version": "1.0.0", "profile": "shop-compose", "parameters": {}, "extensions": {"priority": "bulk"}, "targets": {"176d087d-c1e1-40a0-ab55-b1d36c5bb88a": {"id": "176d087d-c1e1-40a0-ab55-b1d36c5bb88a", "name": "waiting", "device_id": "harbor/*"}}, "contents": {}}', '{"hash": "sha256:e6f9428592aa8a600e54f32c79e383518ba6c5e0e41b682e371e327e8f06bfe5", "sites": [{"site": "harbor", "deployment": null, "name": "waiting", "app": "shop", "action": "install", "changes": true, "why": "shop 1.0.0 is not at harbor yet", "nodes": [], "batches": [], "duration": null}], "duration": null, "findings": []}', NULL, NULL, NULL, NULL, 'd1afa435-6d1a-4864-b411-0e3db3649fe5', '2026-03-01 12:00:00', NULL);


--
-- Data for Name: site_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.site_tokens VALUES ('6878dfeb-b400-44c1-95e2-bb302c5f6a93', 'harbor', 'a21c8946beffc5bab22e5d8597e65da3c2e6d10021753c48dd944a707ca3e647', 'first', '2026-03-01 12:00:00', NULL, NULL, NULL);
INSERT INTO public.site_tokens VALUES ('129baaf1-c145-4aee-a6a1-5ee123291d98', 'harbor', '762f3d7ce32e86e47f6b4dec17e4e6a7a70ff49d9305c90f2d3a55bae3d2f027', 'admin', '2026-03-01 12:00:00', NULL, NULL, '2026-03-01 12:00:00');


--
-- Data for Name: sites; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sites VALUES ('harbor', '{"labels": {"zone": "shop"}}', '[]', '{"zone": "shop"}', 'UTC', NULL, false, 'b40edd740b34d252dd4b68dd4e0c53866be12b50', '01f83522-94be-4fae-aa0f-4f585847d4e3', 1, '2026-03-01 12:00:00', 'cccccccccccccccccccccccccccccccccccccccc', NULL, NULL, '2026-03-01 12:00:00');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('11b2924e-1a49-47ff-bae2-42ca7f848ad1', 'first', '8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918', 'admin', NULL, NULL, 'init', '2026-03-01 12:00:00', NULL, NULL, '2026-03-01 12:00:00');


--
-- Data for Name: totals; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.totals VALUES ('transition', 'INSTALLED', 1);
INSERT INTO public.totals VALUES ('transition', 'INSTALLING', 1);
INSERT INTO public.totals VALUES ('transition', 'PENDING', 1);
INSERT INTO public.totals VALUES ('rejected', '', 1);


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users VALUES ('ada', '$argon2id$v=19$m=65536,t=3,p=4$oUuZM/epgCwP9L7AvJfK1A$WJMPES+S4GLCy01rGvOk9dIg6WWcJjaEL140BN4MMX8', 'operator', NULL, false, '2026-03-01 12:00:00');


--
-- Name: app_versions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.app_versions_id_seq', 2, true);


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_id_seq', 7, true);


--
-- Name: commands_number_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.commands_number_seq', 1, true);


--
-- Name: deployments_key_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.deployments_key_seq', 2, true);


--
-- Name: events_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.events_id_seq', 20, true);


--
-- Name: history_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.history_id_seq', 3, true);


--
-- Name: operations_number_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.operations_number_seq', 1, true);


--
-- Name: rejected_reports_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.rejected_reports_id_seq', 1, true);


--
-- Name: requests_number_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.requests_number_seq', 3, true);


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: app_sources pk_app_sources; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_sources
    ADD CONSTRAINT pk_app_sources PRIMARY KEY (name);


--
-- Name: app_version_components pk_app_version_components; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_version_components
    ADD CONSTRAINT pk_app_version_components PRIMARY KEY (version_id, path);


--
-- Name: app_versions pk_app_versions; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_versions
    ADD CONSTRAINT pk_app_versions PRIMARY KEY (id);


--
-- Name: apps pk_apps; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT pk_apps PRIMARY KEY (id);


--
-- Name: audit pk_audit; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (id);


--
-- Name: commands pk_commands; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT pk_commands PRIMARY KEY (number);


--
-- Name: components pk_components; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.components
    ADD CONSTRAINT pk_components PRIMARY KEY (digest);


--
-- Name: deployments pk_deployments; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT pk_deployments PRIMARY KEY (key);


--
-- Name: events pk_events; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT pk_events PRIMARY KEY (id);


--
-- Name: facts pk_facts; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.facts
    ADD CONSTRAINT pk_facts PRIMARY KEY (name);


--
-- Name: history pk_history; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.history
    ADD CONSTRAINT pk_history PRIMARY KEY (id);


--
-- Name: login_sessions pk_login_sessions; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_sessions
    ADD CONSTRAINT pk_login_sessions PRIMARY KEY (digest);


--
-- Name: nodes pk_nodes; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT pk_nodes PRIMARY KEY (site, name);


--
-- Name: operation_log pk_operation_log; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operation_log
    ADD CONSTRAINT pk_operation_log PRIMARY KEY (operation, chunk);


--
-- Name: operations pk_operations; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT pk_operations PRIMARY KEY (number);


--
-- Name: placements pk_placements; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.placements
    ADD CONSTRAINT pk_placements PRIMARY KEY (deployment, node, incarnation);


--
-- Name: rejected_reports pk_rejected_reports; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejected_reports
    ADD CONSTRAINT pk_rejected_reports PRIMARY KEY (id);


--
-- Name: report_cursors pk_report_cursors; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.report_cursors
    ADD CONSTRAINT pk_report_cursors PRIMARY KEY (site, runner, epoch);


--
-- Name: request_deployments pk_request_deployments; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.request_deployments
    ADD CONSTRAINT pk_request_deployments PRIMARY KEY (request, deployment, site);


--
-- Name: requests pk_requests; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.requests
    ADD CONSTRAINT pk_requests PRIMARY KEY (number);


--
-- Name: site_tokens pk_site_tokens; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.site_tokens
    ADD CONSTRAINT pk_site_tokens PRIMARY KEY (id);


--
-- Name: sites pk_sites; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sites
    ADD CONSTRAINT pk_sites PRIMARY KEY (name);


--
-- Name: tokens pk_tokens; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT pk_tokens PRIMARY KEY (id);


--
-- Name: totals pk_totals; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.totals
    ADD CONSTRAINT pk_totals PRIMARY KEY (name, label);


--
-- Name: users pk_users; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT pk_users PRIMARY KEY (name);


--
-- Name: app_versions uq_app_versions_app_id_version; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_versions
    ADD CONSTRAINT uq_app_versions_app_id_version UNIQUE (app_id, version);


--
-- Name: commands uq_commands_id; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT uq_commands_id UNIQUE (id);


--
-- Name: deployments uq_deployments_site_id; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT uq_deployments_site_id UNIQUE (site, id);


--
-- Name: operations uq_operations_id; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT uq_operations_id UNIQUE (id);


--
-- Name: requests uq_requests_actor_idempotency_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.requests
    ADD CONSTRAINT uq_requests_actor_idempotency_key UNIQUE (actor, idempotency_key);


--
-- Name: requests uq_requests_id; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.requests
    ADD CONSTRAINT uq_requests_id UNIQUE (id);


--
-- Name: site_tokens uq_site_tokens_digest; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.site_tokens
    ADD CONSTRAINT uq_site_tokens_digest UNIQUE (digest);


--
-- Name: tokens uq_tokens_digest; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT uq_tokens_digest UNIQUE (digest);


--
-- Name: deployment_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deployment_search ON public.deployments USING gin (search public.gin_trgm_ops);


--
-- Name: ix_app_version_components_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_app_version_components_digest ON public.app_version_components USING btree (digest);


--
-- Name: ix_app_versions_source; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_app_versions_source ON public.app_versions USING btree (source);


--
-- Name: ix_commands_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_commands_open ON public.commands USING btree (site, state, number);


--
-- Name: ix_deployments_app_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_app_key ON public.deployments USING btree (app, key);


--
-- Name: ix_deployments_counts; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_counts ON public.deployments USING btree (site, state, outcome);


--
-- Name: ix_deployments_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_id ON public.deployments USING btree (id);


--
-- Name: ix_deployments_name_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_name_key ON public.deployments USING btree (name, key);


--
-- Name: ix_deployments_outcome_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_outcome_key ON public.deployments USING btree (outcome, key);


--
-- Name: ix_deployments_site_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_site_key ON public.deployments USING btree (site, key);


--
-- Name: ix_deployments_site_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_site_name ON public.deployments USING btree (site, name);


--
-- Name: ix_deployments_state_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_state_key ON public.deployments USING btree (state, key);


--
-- Name: ix_deployments_updated_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_deployments_updated_key ON public.deployments USING btree (updated_at, key);


--
-- Name: ix_events_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_events_at ON public.events USING btree (at);


--
-- Name: ix_history_deployment; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_history_deployment ON public.history USING btree (deployment, id);


--
-- Name: ix_login_sessions_expires_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_login_sessions_expires_at ON public.login_sessions USING btree (expires_at);


--
-- Name: ix_login_sessions_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_login_sessions_user ON public.login_sessions USING btree ("user");


--
-- Name: ix_operation_log_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_operation_log_at ON public.operation_log USING btree (at);


--
-- Name: ix_operations_deployment; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_operations_deployment ON public.operations USING btree (deployment);


--
-- Name: ix_operations_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_operations_open ON public.operations USING btree (state) WHERE ((state)::text = ANY ((ARRAY['running'::character varying, 'waiting'::character varying])::text[]));


--
-- Name: ix_operations_site; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_operations_site ON public.operations USING btree (site);


--
-- Name: ix_rejected_reports_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_rejected_reports_at ON public.rejected_reports USING btree (at);


--
-- Name: ix_rejected_reports_site; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_rejected_reports_site ON public.rejected_reports USING btree (site);


--
-- Name: ix_requests_queue; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_requests_queue ON public.requests USING btree (state, rank, number);


--
-- Name: ix_site_tokens_site; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_site_tokens_site ON public.site_tokens USING btree (site);


--
-- Name: ix_tokens_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_tokens_user ON public.tokens USING btree ("user");


--
-- Name: app_version_components fk_app_version_components_digest; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_version_components
    ADD CONSTRAINT fk_app_version_components_digest FOREIGN KEY (digest) REFERENCES public.components(digest);


--
-- Name: app_version_components fk_app_version_components_version_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_version_components
    ADD CONSTRAINT fk_app_version_components_version_id FOREIGN KEY (version_id) REFERENCES public.app_versions(id) ON DELETE CASCADE;


--
-- Name: app_versions fk_app_versions_app_id; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_versions
    ADD CONSTRAINT fk_app_versions_app_id FOREIGN KEY (app_id) REFERENCES public.apps(id) ON DELETE CASCADE;


--
-- Name: app_versions fk_app_versions_source; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_versions
    ADD CONSTRAINT fk_app_versions_source FOREIGN KEY (source) REFERENCES public.app_sources(name) ON DELETE SET NULL;


--
-- Name: commands fk_commands_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT fk_commands_site FOREIGN KEY (site) REFERENCES public.sites(name) ON DELETE CASCADE;


--
-- Name: deployments fk_deployments_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT fk_deployments_site FOREIGN KEY (site) REFERENCES public.sites(name);


--
-- Name: history fk_history_deployment; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.history
    ADD CONSTRAINT fk_history_deployment FOREIGN KEY (deployment) REFERENCES public.deployments(key) ON DELETE CASCADE;


--
-- Name: login_sessions fk_login_sessions_user; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_sessions
    ADD CONSTRAINT fk_login_sessions_user FOREIGN KEY ("user") REFERENCES public.users(name) ON DELETE CASCADE;


--
-- Name: nodes fk_nodes_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT fk_nodes_site FOREIGN KEY (site) REFERENCES public.sites(name) ON DELETE CASCADE;


--
-- Name: operation_log fk_operation_log_operation; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operation_log
    ADD CONSTRAINT fk_operation_log_operation FOREIGN KEY (operation) REFERENCES public.operations(number) ON DELETE CASCADE;


--
-- Name: operations fk_operations_deployment; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT fk_operations_deployment FOREIGN KEY (deployment) REFERENCES public.deployments(key) ON DELETE CASCADE;


--
-- Name: placements fk_placements_deployment; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.placements
    ADD CONSTRAINT fk_placements_deployment FOREIGN KEY (deployment) REFERENCES public.deployments(key) ON DELETE CASCADE;


--
-- Name: rejected_reports fk_rejected_reports_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejected_reports
    ADD CONSTRAINT fk_rejected_reports_site FOREIGN KEY (site) REFERENCES public.sites(name) ON DELETE CASCADE;


--
-- Name: report_cursors fk_report_cursors_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.report_cursors
    ADD CONSTRAINT fk_report_cursors_site FOREIGN KEY (site) REFERENCES public.sites(name) ON DELETE CASCADE;


--
-- Name: request_deployments fk_request_deployments_request; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.request_deployments
    ADD CONSTRAINT fk_request_deployments_request FOREIGN KEY (request) REFERENCES public.requests(number) ON DELETE CASCADE;


--
-- Name: site_tokens fk_site_tokens_site; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.site_tokens
    ADD CONSTRAINT fk_site_tokens_site FOREIGN KEY (site) REFERENCES public.sites(name) ON DELETE CASCADE;


--
-- Name: tokens fk_tokens_user; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT fk_tokens_user FOREIGN KEY ("user") REFERENCES public.users(name) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


