// What the engine holds: one row per project with the head of its log, the entries, texts beside them, signs of life, members and snapshots. Members have functions and nothing else.
import {
  FLEET_ANNEX_BYTES_MAX,
  FLEET_ENTRY_BYTES_MAX,
  FLEET_SNAPSHOT_PART_BYTES,
  FLEET_SNAPSHOT_PARTS_MAX,
  FLEET_TURN_MS,
} from '../limits.ts'

/** Of the tables and functions below. Installed once by an owner; members of another version say so. */
export const ENGINE_VERSION = 8

/** Everything runs as the owner of the schema; who calls is `session_user`, and decides which project there is. */
const FUNCTION = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path = heimdall, pg_temp'
/** Called by the others alone, and so as the owner and with their path already. */
const INNER = 'LANGUAGE plpgsql'

export const SCHEMA = `
CREATE SCHEMA heimdall;
REVOKE ALL ON SCHEMA heimdall FROM PUBLIC;

CREATE TABLE heimdall.projects (
  id text PRIMARY KEY,
  name text NOT NULL,
  -- First commits of the repository that it was made from, with blanks between them; empty where nobody could say.
  roots text NOT NULL,
  member_role name NOT NULL UNIQUE,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  engine_version int NOT NULL,
  -- The head of the log, and the least version of a program that may append to it.
  seq bigint NOT NULL,
  entry_id text NOT NULL,
  format int NOT NULL,
  rules int NOT NULL
) WITH (fillfactor = 50);

-- Where members stand in line: locked for a turn and for an append, and never written. PostgreSQL's queue for a row is one in
-- order of arrival only while the row stays where it is; behind a head that each turn writes anew, whoever wakes first is next.
CREATE TABLE heimdall.lines (
  project text PRIMARY KEY REFERENCES heimdall.projects
);

-- Without a reference to its project: only the functions below write here, with the project's row locked, and a claim is
-- not to pay for being asked twice.
CREATE TABLE heimdall.entries (
  project text NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL,
  format int NOT NULL,
  member text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Empty once it is older than the snapshots: number and id stay, to tell a fork from a long absence.
  body text,
  PRIMARY KEY (project, seq)
);

CREATE TABLE heimdall.signs (
  project text NOT NULL,
  who text NOT NULL,
  member text NOT NULL,
  count bigint NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project, who)
) WITH (fillfactor = 50);

CREATE TABLE heimdall.members (
  project text NOT NULL REFERENCES heimdall.projects,
  member text NOT NULL,
  machine text NOT NULL,
  version text NOT NULL,
  format int NOT NULL,
  rules int NOT NULL,
  joined timestamptz NOT NULL DEFAULT clock_timestamp(),
  heard timestamptz NOT NULL DEFAULT clock_timestamp(),
  gone timestamptz,
  PRIMARY KEY (project, member)
);
CREATE UNIQUE INDEX members_by_machine ON heimdall.members (project, machine) WHERE gone IS NULL;

-- One row for each making: what two members make at the same entry is two, and none counts before it is whole.
CREATE TABLE heimdall.snapshots (
  project text NOT NULL REFERENCES heimdall.projects,
  seq bigint NOT NULL,
  making text NOT NULL,
  id text NOT NULL,
  format int NOT NULL,
  parts int NOT NULL,
  begun timestamptz NOT NULL DEFAULT clock_timestamp(),
  is_whole boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project, seq, making)
);

CREATE TABLE heimdall.snapshot_parts (
  project text NOT NULL,
  seq bigint NOT NULL,
  making text NOT NULL,
  part int NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (project, seq, making, part),
  FOREIGN KEY (project, seq, making) REFERENCES heimdall.snapshots ON DELETE CASCADE
);
ALTER TABLE heimdall.snapshot_parts ALTER COLUMN body SET STORAGE EXTERNAL;

-- Texts too large for an entry, packed, in parts. No history: whoever ends what a text was for takes it away.
CREATE TABLE heimdall.annex (
  project text NOT NULL REFERENCES heimdall.projects,
  name text NOT NULL,
  part int NOT NULL,
  parts int NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  body bytea NOT NULL,
  PRIMARY KEY (project, name, part)
);
ALTER TABLE heimdall.annex ALTER COLUMN body SET STORAGE EXTERNAL;

ALTER TABLE heimdall.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.signs ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.snapshot_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE heimdall.annex ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON heimdall.projects USING (member_role = session_user);
CREATE POLICY own ON heimdall.lines USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.entries USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.signs USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.members USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.snapshots USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.snapshot_parts USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));
CREATE POLICY own ON heimdall.annex USING (project = (SELECT id FROM heimdall.projects WHERE member_role = session_user));

CREATE FUNCTION heimdall.may(which text) RETURNS void ${INNER} AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM projects WHERE id = which AND member_role = session_user) THEN
    RAISE EXCEPTION 'no project % for %', which, session_user USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$;

-- Whoever has left, or was expelled, changes nothing any more. Who was never written down as a member is none that could be.
CREATE FUNCTION heimdall.is_gone(which text, mine text) RETURNS boolean ${INNER} AS $$
BEGIN
  RETURN EXISTS (SELECT FROM members WHERE project = which AND member = mine AND gone IS NOT NULL);
END $$;

-- Signs are no history: one row each, by this clock. Sorted, so that two machines cannot wait for each other.
CREATE FUNCTION heimdall.sign(which text, mine text, alive text[]) RETURNS void ${INNER} AS $$
BEGIN
  INSERT INTO signs AS s (project, who, member, count, at)
    SELECT which, w, mine, 1, clock_timestamp() FROM (SELECT DISTINCT unnest(alive) AS w ORDER BY 1) AS named
  ON CONFLICT (project, who) DO UPDATE
    SET count = s.count + 1, member = mine, at = clock_timestamp();
END $$;

-- Counted from the later of the sign and this server's start: while it was down nobody could be heard.
CREATE FUNCTION heimdall.silent_ms(since timestamptz) RETURNS double precision ${INNER} AS $$
BEGIN
  RETURN greatest(0, extract(epoch FROM clock_timestamp() - greatest(since, pg_postmaster_start_time())) * 1000);
END $$;

-- The entries after a place, or what is wrong with the place: forked (another entry, or none, stands there), or old.
CREATE FUNCTION heimdall.missing(which text, at_seq bigint, at_id text, head bigint, lim int)
RETURNS TABLE (kind text, seq bigint, id text, format int, body text) ${INNER} AS $$
#variable_conflict use_column
DECLARE known text;
BEGIN
  IF at_seq > 0 THEN
    SELECT e.id INTO known FROM entries e WHERE e.project = which AND e.seq = at_seq;
    IF at_seq > head OR known <> at_id THEN
      RETURN QUERY SELECT 'forked', head, known, 0, NULL::text;
      RETURN;
    END IF;
  END IF;
  IF (at_seq > 0 AND known IS NULL) OR NOT EXISTS
    (SELECT FROM entries e WHERE e.project = which AND e.seq = at_seq + 1 AND e.body IS NOT NULL) THEN
    RETURN QUERY SELECT 'old', head, NULL::text, 0, NULL::text;
    RETURN;
  END IF;
  RETURN QUERY SELECT 'behind', e.seq, e.id, e.format, e.body FROM entries e
    WHERE e.project = which AND e.seq > at_seq ORDER BY e.seq LIMIT lim;
END $$;

-- A turn: the line of the project, held until the transaction ends, and what the member lacks. Whoever falls silent in its
-- turn loses the connection, and with it the turn.
CREATE FUNCTION heimdall.take_turn(which text, mine text, at_seq bigint, at_id text, lim int, turn_ms int, wait_ms int)
RETURNS TABLE (kind text, seq bigint, id text, format int, body text) ${FUNCTION} AS $$
#variable_conflict use_column
DECLARE p projects;
BEGIN
  PERFORM set_config('lock_timeout', wait_ms || 'ms', true), set_config('idle_in_transaction_session_timeout', turn_ms || 'ms', true);
  PERFORM FROM lines WHERE project = which FOR UPDATE;
  SELECT * INTO p FROM projects WHERE projects.id = which AND member_role = session_user;
  IF NOT FOUND THEN PERFORM may(which); END IF;
  IF is_gone(which, mine) THEN RETURN QUERY SELECT 'gone', NULL::bigint, NULL::text, 0, NULL::text; END IF;
  RETURN QUERY SELECT 'clock', p.seq, p.entry_id, p.format, NULL::text;
  IF p.seq <> at_seq OR p.entry_id <> at_id THEN
    IF at_seq = p.seq THEN RETURN QUERY SELECT 'forked', p.seq, p.entry_id, 0, NULL::text;
    ELSE RETURN QUERY SELECT * FROM missing(which, at_seq, at_id, p.seq, lim);
    END IF;
  END IF;
END $$;

-- Appends at a place, or says what is in the way of that. With a wait of nothing it does not stand in line: what is appended
-- behind somebody's turn is too late, and the caller had better stand in line for a turn of its own.
CREATE FUNCTION heimdall.append(
  which text, mine text, at_seq bigint, at_id text, new_id text, new_body text,
  my_format int, my_rules int, alive text[], silent text[], silent_counts bigint[], lim int, wait_ms int)
RETURNS TABLE (kind text, seq bigint, id text, format int, body text) ${FUNCTION} AS $$
#variable_conflict use_column
DECLARE p projects;
BEGIN
  IF length(new_body) > ${FLEET_ENTRY_BYTES_MAX} THEN
    RAISE EXCEPTION 'an entry of % characters, limit ${FLEET_ENTRY_BYTES_MAX}', length(new_body) USING ERRCODE = 'program_limit_exceeded';
  END IF;
  IF wait_ms = 0 THEN
    PERFORM FROM lines WHERE project = which FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM may(which);
      RETURN QUERY SELECT 'wait', NULL::bigint, NULL::text, 0, NULL::text;
      RETURN;
    END IF;
  ELSE
    PERFORM set_config('lock_timeout', wait_ms || 'ms', true), set_config('idle_in_transaction_session_timeout', '${FLEET_TURN_MS}ms', true);
    PERFORM FROM lines WHERE project = which FOR UPDATE;
  END IF;
  -- A statement of its own, which sees what was committed while the line was waited for.
  SELECT * INTO p FROM projects WHERE projects.id = which AND member_role = session_user;
  IF NOT FOUND THEN PERFORM may(which); END IF;
  IF my_format < p.format OR my_rules < p.rules THEN
    RETURN QUERY SELECT 'newer', NULL::bigint, p.format || ' ' || p.rules, p.format, NULL::text;
    RETURN;
  END IF;
  IF p.seq <> at_seq OR p.entry_id <> at_id THEN
    IF EXISTS (SELECT FROM entries e WHERE e.project = which AND e.seq = at_seq + 1 AND e.id = new_id) THEN
      RETURN QUERY SELECT 'accepted', at_seq + 1, new_id, my_format, NULL::text;
    ELSIF at_seq = p.seq THEN
      RETURN QUERY SELECT 'forked', p.seq, p.entry_id, 0, NULL::text;
    ELSE
      RETURN QUERY SELECT * FROM missing(which, at_seq, at_id, p.seq, lim);
    END IF;
    RETURN;
  END IF;
  -- Past what is there already: an entry of before is accepted again, and the copy of an expelled machine learns what it lacks.
  IF is_gone(which, mine) THEN
    RETURN QUERY SELECT 'gone', NULL::bigint, NULL::text, 0, NULL::text;
    RETURN;
  END IF;
  -- Whoever was taken for silent and has spoken since: under the same lock as the entry itself.
  IF cardinality(silent) > 0 AND EXISTS (SELECT FROM unnest(silent, silent_counts) AS t (w, c)
             JOIN signs s ON s.project = which AND s.who = t.w WHERE s.count > t.c) THEN
    RETURN QUERY SELECT 'alive', s.count, s.who, 0, silent_ms(s.at)::text FROM signs s
      WHERE s.project = which AND s.who = ANY (silent);
    RETURN;
  END IF;
  -- An answer means that it is on disk, whatever this server's default is.
  SET LOCAL synchronous_commit = on;
  INSERT INTO entries (project, seq, id, format, member, body) VALUES (which, at_seq + 1, new_id, my_format, mine, new_body);
  UPDATE projects SET seq = at_seq + 1, entry_id = new_id, format = my_format, rules = my_rules WHERE projects.id = which;
  IF cardinality(alive) > 0 THEN PERFORM sign(which, mine, alive); END IF;
  NOTIFY heimdall;
  RETURN QUERY SELECT 'accepted', at_seq + 1, new_id, my_format, NULL::text;
END $$;

-- Signs of this member told; entries that it lacks, and signs of others since it last heard any.
CREATE FUNCTION heimdall.hear(which text, mine text, at_seq bigint, at_id text, alive text[], since timestamptz, lim int)
RETURNS TABLE (kind text, seq bigint, id text, format int, body text) ${FUNCTION} AS $$
#variable_conflict use_column
DECLARE p projects;
BEGIN
  PERFORM may(which);
  IF cardinality(alive) > 0 AND NOT is_gone(which, mine) THEN PERFORM sign(which, mine, alive); END IF;
  UPDATE members m SET heard = clock_timestamp()
    WHERE m.project = which AND m.member = mine AND m.heard < clock_timestamp() - interval '5 s';
  SELECT * INTO p FROM projects WHERE projects.id = which;
  RETURN QUERY SELECT 'clock', p.seq, p.entry_id, p.format, clock_timestamp()::text;
  IF p.seq <> at_seq OR p.entry_id <> at_id THEN
    IF at_seq = p.seq THEN RETURN QUERY SELECT 'forked', p.seq, p.entry_id, 0, NULL::text;
    ELSE RETURN QUERY SELECT * FROM missing(which, at_seq, at_id, p.seq, lim);
    END IF;
  END IF;
  RETURN QUERY SELECT 'alive', s.count, s.who, 0, silent_ms(s.at)::text FROM signs s
    WHERE s.project = which AND s.member <> mine AND (since IS NULL OR s.at >= since);
END $$;

CREATE FUNCTION heimdall.enter(which text, mine text, my_machine text, my_version text, my_format int, my_rules int)
RETURNS TABLE (machine text, format int, rules int) ${FUNCTION} AS $$
#variable_conflict use_column
DECLARE name text := my_machine; n int := 1;
BEGIN
  PERFORM may(which);
  PERFORM FROM lines WHERE project = which FOR UPDATE;
  -- Two machines of one name are two.
  WHILE EXISTS (SELECT FROM members m WHERE m.project = which AND m.machine = name AND m.member <> mine AND m.gone IS NULL) LOOP
    n := n + 1;
    name := my_machine || '-' || n;
  END LOOP;
  INSERT INTO members AS m (project, member, machine, version, format, rules)
    VALUES (which, mine, name, my_version, my_format, my_rules)
  ON CONFLICT (project, member) DO UPDATE SET machine = name, version = my_version, format = my_format, rules = my_rules,
    heard = clock_timestamp(), gone = NULL;
  RETURN QUERY SELECT m.machine, p.format, p.rules
    FROM projects p JOIN members m ON m.project = p.id AND m.member = mine WHERE p.id = which;
END $$;

CREATE FUNCTION heimdall.leave(which text, mine text) RETURNS void ${FUNCTION} AS $$
BEGIN
  PERFORM may(which);
  -- In line: what it appends at this moment comes before it, and nothing after.
  PERFORM FROM lines WHERE project = which FOR UPDATE;
  UPDATE members SET gone = clock_timestamp() WHERE project = which AND member = mine;
  DELETE FROM signs WHERE project = which AND member = mine;
END $$;

-- A snapshot stands at an entry that is in the log. Once it is whole, bodies below the whole one before it go; numbers and
-- ids stay for 30 days. What was begun an hour ago and is no whole one was left by somebody who was killed.
CREATE FUNCTION heimdall.keep(
  which text, my_making text, at_seq bigint, at_id text, my_format int, n int, of int, content bytea)
RETURNS void ${FUNCTION} AS $$
DECLARE s snapshots; below bigint;
BEGIN
  PERFORM may(which);
  IF of NOT BETWEEN 1 AND ${FLEET_SNAPSHOT_PARTS_MAX} OR n NOT BETWEEN 0 AND of - 1
      OR octet_length(content) > ${FLEET_SNAPSHOT_PART_BYTES} THEN
    RAISE EXCEPTION 'part % of % of a snapshot, with % bytes; limits ${FLEET_SNAPSHOT_PARTS_MAX} and ${FLEET_SNAPSHOT_PART_BYTES}',
      n, of, octet_length(content) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT EXISTS (SELECT FROM entries WHERE project = which AND seq = at_seq AND id = at_id) THEN
    RAISE EXCEPTION 'no entry % at %', at_id, at_seq USING ERRCODE = 'no_data_found';
  END IF;
  INSERT INTO snapshots (project, seq, making, id, format, parts) VALUES (which, at_seq, my_making, at_id, my_format, of)
    ON CONFLICT DO NOTHING;
  -- Locked: of two parts that come at once the second counts both.
  SELECT * INTO s FROM snapshots WHERE project = which AND seq = at_seq AND making = my_making FOR UPDATE;
  IF s.is_whole OR s.parts <> of THEN RETURN; END IF;
  INSERT INTO snapshot_parts (project, seq, making, part, body) VALUES (which, at_seq, my_making, n, content)
    ON CONFLICT DO NOTHING;
  IF (SELECT count(*) FROM snapshot_parts WHERE project = which AND seq = at_seq AND making = my_making) < of THEN RETURN; END IF;
  UPDATE snapshots SET is_whole = true WHERE project = which AND seq = at_seq AND making = my_making;
  DELETE FROM snapshots WHERE project = which AND NOT is_whole AND begun < clock_timestamp() - interval '1 hour';
  SELECT max(seq) INTO below FROM snapshots WHERE project = which AND seq < at_seq AND is_whole;
  IF below IS NULL THEN RETURN; END IF;
  DELETE FROM snapshots WHERE project = which AND seq < below;
  UPDATE entries SET body = NULL WHERE project = which AND seq <= below AND body IS NOT NULL;
  DELETE FROM entries WHERE project = which AND seq < below AND body IS NULL AND at < clock_timestamp() - interval '30 days';
END $$;

-- Laid there before the entry that names it: the commit of that entry is flushed after it. The same part again is the same part.
CREATE FUNCTION heimdall.lay(which text, my_name text, n int, of int, content bytea) RETURNS void ${FUNCTION} AS $$
BEGIN
  PERFORM may(which);
  IF (SELECT coalesce(sum(octet_length(body)), 0) FROM annex WHERE project = which AND (name, part) <> (my_name, n))
      + octet_length(content) > ${FLEET_ANNEX_BYTES_MAX} THEN
    RAISE EXCEPTION 'the texts beside the log of % would have more than ${FLEET_ANNEX_BYTES_MAX} bytes', which
      USING ERRCODE = 'program_limit_exceeded';
  END IF;
  INSERT INTO annex AS a (project, name, part, parts, body) VALUES (which, my_name, n, of, content)
    ON CONFLICT (project, name, part) DO UPDATE SET parts = of, body = content, at = clock_timestamp();
END $$;

CREATE FUNCTION heimdall.clear(which text, names text[]) RETURNS void ${FUNCTION} AS $$
BEGIN
  PERFORM may(which);
  DELETE FROM annex WHERE project = which AND name = ANY (names);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA heimdall FROM PUBLIC;
`

const CALLED = `heimdall.append, heimdall.take_turn, heimdall.hear, heimdall.enter, heimdall.leave, heimdall.keep,
  heimdall.lay, heimdall.clear`

/** What the role of a project's members may do; the name is one of ours and needs no quotes. */
export const grantsTo = (role: string): string => `
GRANT USAGE ON SCHEMA heimdall TO ${role};
GRANT SELECT ON ALL TABLES IN SCHEMA heimdall TO ${role};
GRANT EXECUTE ON FUNCTION ${CALLED} TO ${role};
`

/** All of it again: a role that may do anything here cannot be dropped. */
export const revokesFrom = (role: string): string => `
REVOKE ALL ON SCHEMA heimdall FROM ${role};
REVOKE ALL ON ALL TABLES IN SCHEMA heimdall FROM ${role};
REVOKE ALL ON FUNCTION ${CALLED} FROM ${role};
`
