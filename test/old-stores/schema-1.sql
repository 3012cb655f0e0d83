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
CREATE SCHEMA servable;
CREATE FUNCTION servable.commit_1(given text) RETURNS json
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
    DECLARE
      g jsonb := given::jsonb;
      own uuid := (g->>'id')::uuid;
      touched text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{logs}'))::text[] COLLATE "C";
      seen_c text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{seen,collection}'))::text[];
      seen_i text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{seen,id}'))::text[];
      puts_c text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,collection}'))::text[];
      puts_i text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,id}'))::text[];
      gone_c text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{gone,collection}'))::text[];
      gone_i text[] := ARRAY(SELECT jsonb_array_elements_text(g #> '{gone,id}'))::text[];
      versions json;
      heard bigint[];
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('"servable" commit ' || own, 0));
      PERFORM FROM "servable".documents d
        JOIN unnest(seen_c || puts_c || gone_c, seen_i || puts_i || gone_i) AS x(c, i) ON d.collection = x.c AND d.id = x.i
        ORDER BY d.collection, d.id FOR NO KEY UPDATE OF d;
      PERFORM FROM "servable".logs WHERE log = ANY(touched) ORDER BY log FOR NO KEY UPDATE;
      -- What is not there has no row to lock. Whoever deletes without having read needs no lock for it.
      PERFORM pg_advisory_xact_lock(key) FROM (
        SELECT DISTINCT hashtextextended(name, 0) AS key FROM (
          SELECT '"servable" document ' || length(x.c) || ' ' || x.c || x.i AS name
            FROM unnest(seen_c || puts_c, seen_i || puts_i) AS x(c, i)
            WHERE NOT EXISTS (SELECT FROM "servable".documents d WHERE d.collection = x.c AND d.id = x.i)
          UNION ALL SELECT '"servable" log ' || x.l FROM unnest(touched) AS x(l)
            WHERE NOT EXISTS (SELECT FROM "servable".logs l WHERE l.log = x.l)
        ) names ORDER BY key
      ) keys;
      IF EXISTS (SELECT FROM "servable".commits WHERE id = own) THEN
        RETURN (SELECT coalesce(json_object_agg(log, version::text), '{}') FROM "servable".logs WHERE log = ANY(touched));
      END IF;
      IF EXISTS (
        SELECT FROM unnest(seen_c, seen_i, ARRAY(SELECT jsonb_array_elements_text(g #> '{seen,version}'))::bigint[]) AS x(c, i, v)
          LEFT JOIN "servable".documents d ON d.collection = x.c AND d.id = x.i
          WHERE x.v IS DISTINCT FROM d.version
      ) OR EXISTS (
        SELECT FROM unnest(ARRAY(SELECT jsonb_array_elements_text(g #> '{heads,log}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{heads,version}'))::bigint[],
            ARRAY(SELECT jsonb_array_elements_text(g #> '{heads,last}'))::bigint[], ARRAY(SELECT jsonb_array_elements_text(g #> '{heads,sealed}'))::boolean[]) AS x(l, v, n, e)
          LEFT JOIN "servable".logs l ON l.log = x.l
          WHERE x.v IS DISTINCT FROM l.version OR (x.n IS NOT NULL AND (x.n, x.e) <> (coalesce(l.last, 0), coalesce(l.sealed, false)))
      ) THEN
        RETURN NULL;
      END IF;
      INSERT INTO "servable".commits (id) VALUES (own);
      IF g ? 'gone' THEN
        DELETE FROM "servable".documents d
          USING unnest(gone_c, gone_i) AS x(c, i)
          WHERE d.collection = x.c AND d.id = x.i;
      END IF;
      IF g ? 'puts' THEN
        INSERT INTO "servable".documents AS d (collection, id, partition, at, expires, tags, value, version)
          SELECT x.*, nextval('"servable".versions') FROM unnest(
            puts_c, puts_i, ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,partition}'))::text[],
            ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,at}'))::float8[], ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,expires}'))::float8[], ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,tags}'))::jsonb[],
            ARRAY(SELECT jsonb_array_elements_text(g #> '{puts,value}'))::text[]) AS x
          ON CONFLICT (collection, id) DO UPDATE SET partition = excluded.partition, at = excluded.at,
            expires = excluded.expires, tags = excluded.tags, value = excluded.value, version = excluded.version;
      END IF;
      IF g ? 'deleted' THEN
        DELETE FROM "servable".entries WHERE log = ANY(ARRAY(SELECT jsonb_array_elements_text(g #> '{deleted}'))::text[]);
        DELETE FROM "servable".logs WHERE log = ANY(ARRAY(SELECT jsonb_array_elements_text(g #> '{deleted}'))::text[]);
      END IF;
      IF g ? 'grown' THEN
        INSERT INTO "servable".entries (log, seq, data) SELECT * FROM unnest(
          ARRAY(SELECT jsonb_array_elements_text(g #> '{entries,log}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{entries,seq}'))::bigint[], ARRAY(SELECT jsonb_array_elements_text(g #> '{entries,data}'))::text[]);
        WITH written AS (
          INSERT INTO "servable".logs AS l (log, version, last, sealed)
            SELECT x.l, nextval('"servable".versions'), x.n, x.e FROM unnest(
              ARRAY(SELECT jsonb_array_elements_text(g #> '{grown,log}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{grown,last}'))::bigint[], ARRAY(SELECT jsonb_array_elements_text(g #> '{grown,sealed}'))::boolean[]) AS x(l, n, e)
            ON CONFLICT (log) DO UPDATE SET last = excluded.last, sealed = excluded.sealed
            RETURNING log, version, watched
        )
        SELECT json_object_agg(log, version::text),
            array_agg(hashtextextended(log, 0)) FILTER (WHERE watched > clock_timestamp())
          INTO versions, heard FROM written;
      END IF;
      -- A notification has at most 8,000 bytes.
      PERFORM pg_notify('servable', string_agg(key::text, ' '))
        FROM unnest(heard) WITH ORDINALITY AS x(key, n) GROUP BY n / 300;
      IF g ? 'calls' THEN
        PERFORM pg_notify('servable', x) FROM unnest(ARRAY(SELECT jsonb_array_elements_text(g #> '{calls}'))::text[]) AS x;
      END IF;
      RETURN coalesce(versions, '{}');
    END $$;
CREATE FUNCTION servable.look_1(given text) RETURNS json
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
    DECLARE
      g jsonb := given::jsonb;
    BEGIN
      RETURN json_build_array(
        extract(epoch FROM clock_timestamp()) * 1000,
        (SELECT json_agg((
            SELECT json_build_array(id, partition, at, expires, tags, value, version::text) FROM "servable".documents d WHERE d.collection = x.c AND d.id = x.i
          ) ORDER BY x.n)
          FROM unnest(ARRAY(SELECT jsonb_array_elements_text(g #> '{get,collection}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{get,id}'))::text[]) WITH ORDINALITY AS x(c, i, n)),
        (SELECT json_agg((
            SELECT json_build_array(l.version::text, l.last, l.sealed, CASE WHEN x.m > 0 THEN (
              SELECT json_agg(json_build_array(e.seq, e.data) ORDER BY e.seq) FROM "servable".entries e
                WHERE e.log = x.l AND e.seq > x.a AND e.seq <= x.a + x.m
            ) END) FROM "servable".logs l WHERE l.log = x.l
          ) ORDER BY x.n)
          FROM unnest(ARRAY(SELECT jsonb_array_elements_text(g #> '{log,log}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{log,after}'))::bigint[], ARRAY(SELECT jsonb_array_elements_text(g #> '{log,limit}'))::bigint[])
            WITH ORDINALITY AS x(l, a, m, n)),
        (SELECT json_agg(CASE WHEN x.p IS NULL
            THEN (SELECT count(*) FROM "servable".documents d WHERE d.collection = x.c)
            ELSE (SELECT count(*) FROM "servable".documents d WHERE d.collection = x.c AND d.partition = x.p)
          END ORDER BY x.n)
          FROM unnest(ARRAY(SELECT jsonb_array_elements_text(g #> '{count,collection}'))::text[], ARRAY(SELECT jsonb_array_elements_text(g #> '{count,partition}'))::text[]) WITH ORDINALITY AS x(c, p, n))
      );
    END $$;
CREATE FUNCTION servable.watch_1(given text, seconds double precision) RETURNS text
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO "servable".logs AS l (log, version, last, sealed, watched)
        VALUES (given, nextval('"servable".versions'), 0, false, clock_timestamp() + seconds * interval '1 second')
        ON CONFLICT (log) DO UPDATE SET watched = excluded.watched;
      RETURN hashtextextended(given, 0)::text;
    END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE servable.commits (
    id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE servable.documents (
    collection text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    partition text NOT NULL COLLATE pg_catalog."C",
    at double precision NOT NULL,
    expires double precision,
    tags jsonb NOT NULL,
    value text NOT NULL,
    version bigint NOT NULL
);
CREATE TABLE servable.entries (
    log text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    data text NOT NULL
);
CREATE TABLE servable.logs (
    log text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    last bigint NOT NULL,
    sealed boolean NOT NULL,
    watched timestamp with time zone
)
WITH (fillfactor='50');
CREATE TABLE servable.schema_versions (
    version integer NOT NULL,
    oldest integer NOT NULL
);
CREATE SEQUENCE servable.versions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE servable.workers (
    instance text NOT NULL,
    seen timestamp with time zone NOT NULL,
    suspected timestamp with time zone,
    gone timestamp with time zone
);
INSERT INTO servable.commits VALUES ('61919727-9bcd-4ce1-83bc-791f85e9d4ec', '2026-11-25 16:40:41.687454+00');
INSERT INTO servable.commits VALUES ('442da2cf-75bb-4e95-ad0c-afe37e26199d', '2026-11-25 16:40:41.720307+00');
INSERT INTO servable.commits VALUES ('743062e9-bce7-484c-8e2e-9d79c4c45219', '2026-11-25 16:40:41.763092+00');
INSERT INTO servable.commits VALUES ('494b2afa-abed-4db2-ba45-f2334452d102', '2026-11-25 16:40:41.77471+00');
INSERT INTO servable.commits VALUES ('faf3c420-9792-4222-b6a4-9ab6c68809d2', '2026-11-25 16:40:41.804713+00');
INSERT INTO servable.commits VALUES ('7868b2b3-c5f7-4cf6-a534-44657883c9d2', '2026-11-25 16:40:41.824818+00');
INSERT INTO servable.commits VALUES ('8249117d-2f63-4d98-9040-421d5bb31bba', '2026-11-25 16:40:41.847872+00');
INSERT INTO servable.commits VALUES ('a34bef6b-8e30-4834-8f16-f00b02c4a54f', '2026-11-25 16:40:41.870477+00');
INSERT INTO servable.commits VALUES ('c315a0b1-e6d6-4a1b-ab13-ec1205beff59', '2026-11-25 16:40:41.897144+00');
INSERT INTO servable.commits VALUES ('41bbbf1c-8319-4fd7-bb8e-b248aa7344d6', '2026-11-25 16:40:41.975703+00');
INSERT INTO servable.commits VALUES ('4b5c178c-819c-4f56-bbe4-4601425fd61f', '2026-11-25 16:40:42.057566+00');
INSERT INTO servable.commits VALUES ('b1ee98cd-9be7-4daa-966c-55641a82cd29', '2026-11-25 16:40:42.069477+00');
INSERT INTO servable.documents VALUES ('swept', 'run', '', 1795624841595.176, NULL, '{}', 'null', 1);
INSERT INTO servable.documents VALUES ('worker', '4267009a-5f15-4124-a157-13bcef555f05/4b915d23-0965-4513-a482-0d023cb25d75', 'running', 1795624841696.851, NULL, '{}', 'null', 2);
INSERT INTO servable.documents VALUES ('turn', '["ann",["agent:says"],"a-chat"]/1', '["ann",["agent:says"],"a-chat"]', 1, NULL, '{}', '{"seq":1,"turn":{"runId":"d8739a6c-76c3-493c-b829-a3a31a610ad7","kind":"agent","name":"says","input":"go","status":"completed","at":1795624841734,"text":"one two three größer 😀","finishReason":"stop","endedAt":1795624841773}}', 7);
INSERT INTO servable.documents VALUES ('session', '["ann",["agent:says"],"a-chat"]', 'owner:ann', 1795624841788.8252, 4949224841788.825, '{"kind": "agent", "name": "says"}', '{"next":2,"count":1,"length":226,"line":[],"open":[],"about":{"title":"go","last":"one two three größer 😀","turns":1,"createdAt":1795624841734}}', 8);
INSERT INTO servable.documents VALUES ('run', 'd8739a6c-76c3-493c-b829-a3a31a610ad7', 'owner:ann', 1795624841598, 4949224841806.05, '{"kind": "agent", "name": "says", "status": "completed", "sessionId": "a-chat"}', '{"record":{"id":"d8739a6c-76c3-493c-b829-a3a31a610ad7","kind":"agent","name":"says","status":"completed","createdAt":"2026-11-25T16:40:41.598Z","updatedAt":"2026-11-25T16:40:41.821Z","sessionId":"a-chat","userId":"ann","finishReason":"stop"},"owner":"ann","at":1795624841598,"instance":"4267009a-5f15-4124-a157-13bcef555f05/4b915d23-0965-4513-a482-0d023cb25d75","keyId":null,"session":{"owner":"ann","place":["agent:says"],"sessionId":"a-chat"}}', 10);
INSERT INTO servable.documents VALUES ('result', 'd8739a6c-76c3-493c-b829-a3a31a610ad7', 'owner:ann', 1795624841598, NULL, '{}', '{"text":"one two three größer 😀","toolCalls":[],"usage":{"promptTokens":0,"completionTokens":0,"totalTokens":0},"structured":null,"durationMs":75.729,"finishReason":"stop","runId":"d8739a6c-76c3-493c-b829-a3a31a610ad7"}', 11);
INSERT INTO servable.documents VALUES ('run', '8718809f-ed88-41e1-8a17-2135f4fffd2c', 'owner:ann', 1795624841844, 4949224841857.099, '{"kind": "workflow", "name": "asks", "status": "input_required", "waiting": "true"}', '{"record":{"id":"8718809f-ed88-41e1-8a17-2135f4fffd2c","kind":"workflow","name":"asks","status":"input_required","createdAt":"2026-11-25T16:40:41.844Z","updatedAt":"2026-11-25T16:40:41.867Z","userId":"ann","finishReason":"input_required","waiting":true},"owner":"ann","at":1795624841844,"instance":"4267009a-5f15-4124-a157-13bcef555f05/4b915d23-0965-4513-a482-0d023cb25d75","keyId":null}', 16);
INSERT INTO servable.documents VALUES ('result', '8718809f-ed88-41e1-8a17-2135f4fffd2c', 'owner:ann', 1795624841844, NULL, '{}', '{"text":"","toolCalls":[],"usage":{"promptTokens":0,"completionTokens":0,"totalTokens":0},"structured":null,"durationMs":7.899,"finishReason":"input_required","runId":"8718809f-ed88-41e1-8a17-2135f4fffd2c","requests":[{"id":"8718809f-ed88-41e1-8a17-2135f4fffd2c/size","kind":"question","message":"size","digest":"EPhXGcuDyVvuzgIaDSx14ikhmaFIs63tkwLj1shuz60"}]}', 17);
INSERT INTO servable.documents VALUES ('waiting', '8718809f-ed88-41e1-8a17-2135f4fffd2c', 'owner:ann', 1795624841857.0984, NULL, '{}', '{"target":{"kind":"workflow","name":"asks"},"input":"go","options":{"userId":"ann","identity":"ann"},"requests":[{"id":"8718809f-ed88-41e1-8a17-2135f4fffd2c/size","kind":"question","message":"size","digest":"EPhXGcuDyVvuzgIaDSx14ikhmaFIs63tkwLj1shuz60"}],"answers":[],"work":{"done":[],"answered":[],"states":{}},"client":"owner:ann","at":1795624841857.0984}', 18);
INSERT INTO servable.documents VALUES ('running', '97d29792-4423-47b7-bf3a-ac01207191d6', 'owner:ann', 1795624841884, NULL, '{}', '"4267009a-5f15-4124-a157-13bcef555f05/4b915d23-0965-4513-a482-0d023cb25d75"', 20);
INSERT INTO servable.documents VALUES ('run', '97d29792-4423-47b7-bf3a-ac01207191d6', 'owner:ann', 1795624841884, NULL, '{"kind": "workflow", "name": "cut", "status": "running"}', '{"record":{"id":"97d29792-4423-47b7-bf3a-ac01207191d6","kind":"workflow","name":"cut","status":"running","createdAt":"2026-11-25T16:40:41.884Z","updatedAt":"2026-11-25T16:40:41.884Z","userId":"ann"},"owner":"ann","at":1795624841884,"instance":"4267009a-5f15-4124-a157-13bcef555f05/4b915d23-0965-4513-a482-0d023cb25d75","keyId":null}', 21);
INSERT INTO servable.documents VALUES ('asked', '97d29792-4423-47b7-bf3a-ac01207191d6', '', 1795624841883.275, NULL, '{}', '{"target":{"kind":"workflow","name":"cut"},"input":"go","options":{"userId":"ann","identity":"ann"},"client":"owner:ann","isBackground":true,"resumes":true,"isKept":false,"usedKey":false}', 22);
INSERT INTO servable.documents VALUES ('journal', '97d29792-4423-47b7-bf3a-ac01207191d6/1', '97d29792-4423-47b7-bf3a-ac01207191d6', 1, NULL, '{}', '{"done":{"path":"first","kind":"step","value":"first"}}', 24);
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 1, '{"type":"text","text":"one ","at":32}');
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 2, '{"type":"text","text":"two ","at":33}');
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 3, '{"type":"text","text":"three ","at":33}');
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 4, '{"type":"text","text":"größer ","at":38}');
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 5, '{"type":"text","text":"😀","at":38}');
INSERT INTO servable.entries VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 6, '{"type":"finish","finishReason":"stop","at":39}');
INSERT INTO servable.entries VALUES ('8718809f-ed88-41e1-8a17-2135f4fffd2c', 1, '{"type":"finish","finishReason":"input_required","requests":[{"id":"8718809f-ed88-41e1-8a17-2135f4fffd2c/size","kind":"question","message":"size","digest":"EPhXGcuDyVvuzgIaDSx14ikhmaFIs63tkwLj1shuz60"}],"at":7}');
INSERT INTO servable.entries VALUES ('97d29792-4423-47b7-bf3a-ac01207191d6', 1, '{"type":"step","id":"first","name":"first","index":0,"status":"started","at":1}');
INSERT INTO servable.entries VALUES ('97d29792-4423-47b7-bf3a-ac01207191d6', 2, '{"type":"step","id":"first","name":"first","index":0,"status":"completed","durationMs":10.274,"at":17}');
INSERT INTO servable.entries VALUES ('97d29792-4423-47b7-bf3a-ac01207191d6', 3, '{"type":"step","id":"second","name":"second","index":1,"status":"started","at":161}');
INSERT INTO servable.logs VALUES ('d8739a6c-76c3-493c-b829-a3a31a610ad7', 6, 6, true, NULL);
INSERT INTO servable.logs VALUES ('8718809f-ed88-41e1-8a17-2135f4fffd2c', 19, 1, true, NULL);
INSERT INTO servable.logs VALUES ('97d29792-4423-47b7-bf3a-ac01207191d6', 23, 3, false, NULL);
INSERT INTO servable.schema_versions VALUES (1, 1);
INSERT INTO servable.workers VALUES ('4267009a-5f15-4124-a157-13bcef555f05', '2026-11-25 16:40:41.530298+00', NULL, NULL);
SELECT pg_catalog.setval('servable.versions', 26, true);
ALTER TABLE ONLY servable.commits
    ADD CONSTRAINT commits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY servable.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (collection, id);
ALTER TABLE ONLY servable.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (log, seq);
ALTER TABLE ONLY servable.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (log);
ALTER TABLE ONLY servable.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (instance);
CREATE INDEX commits_by_age ON servable.commits USING btree (at);
CREATE INDEX documents_by_age ON servable.documents USING btree (collection, at, id);
CREATE INDEX documents_by_expiry ON servable.documents USING btree (collection, expires) WHERE (expires IS NOT NULL);
CREATE INDEX documents_by_partition ON servable.documents USING btree (collection, partition, at DESC, id DESC);
CREATE INDEX documents_by_tag_agent ON servable.documents USING btree (collection, partition, ((tags ->> 'agent'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'agent'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_contextid ON servable.documents USING btree (collection, partition, ((tags ->> 'contextId'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'contextId'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_kind ON servable.documents USING btree (collection, partition, ((tags ->> 'kind'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'kind'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_name ON servable.documents USING btree (collection, partition, ((tags ->> 'name'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'name'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_sessionid ON servable.documents USING btree (collection, partition, ((tags ->> 'sessionId'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'sessionId'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_state ON servable.documents USING btree (collection, partition, ((tags ->> 'state'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'state'::text) IS NOT NULL);
CREATE INDEX documents_by_tag_status ON servable.documents USING btree (collection, partition, ((tags ->> 'status'::text)) COLLATE "C", at DESC, id DESC) WHERE ((tags ->> 'status'::text) IS NOT NULL);
CREATE INDEX workers_by_end ON servable.workers USING btree (gone);
