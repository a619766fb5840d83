// Tables of `coordination.db`. Those called `local_` are this machine's own, all others are what entries are made of. A migration is never edited once released.

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE agents (
    haid TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL UNIQUE COLLATE NOCASE,
    display_name TEXT NOT NULL,
    role TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('local', 'remote')),
    version INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    beat_count INTEGER NOT NULL,
    beat_boot TEXT NOT NULL,
    beat_mono_ms REAL NOT NULL,
    beat_wall_ms INTEGER NOT NULL,
    seen_boot TEXT,
    seen_count INTEGER,
    seen_mono_ms REAL,
    seen_age_ms REAL,
    session_epoch INTEGER NOT NULL,
    session_secret_hash TEXT,
    session_client TEXT,
    session_pid INTEGER,
    session_started_ms INTEGER NOT NULL,
    session_ended_ms INTEGER
  ) STRICT;
  CREATE INDEX agents_by_boot ON agents (beat_boot);

  CREATE TABLE claims (
    -- AUTOINCREMENT: a fencing token is never given out twice, not even after the newest row is gone.
    epoch INTEGER PRIMARY KEY AUTOINCREMENT,
    claim_id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL REFERENCES agents (haid),
    task TEXT,
    intent TEXT,
    worktree TEXT NOT NULL,
    ttl_minutes INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'released', 'expired')),
    created_ms INTEGER NOT NULL,
    granted_boot TEXT NOT NULL,
    granted_mono_ms REAL NOT NULL,
    granted_wall_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    ended_reason TEXT,
    displaced_by TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('local', 'remote')),
    scopes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX claims_by_holder ON claims (holder, state);
  CREATE INDEX claims_active ON claims (state) WHERE state = 'active';

  -- Only active claims have rows here, so that history does not slow a check down.
  CREATE TABLE bases (
    base TEXT NOT NULL,
    epoch INTEGER NOT NULL REFERENCES claims (epoch),
    PRIMARY KEY (base, epoch)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bases_by_epoch ON bases (epoch);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    actor TEXT,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('agent', 'human', 'system')),
    to_agent TEXT,
    task TEXT,
    scope TEXT,
    claim_id TEXT,
    wall_ms INTEGER NOT NULL,
    payload TEXT NOT NULL,
    origin TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_claim ON events (claim_id) WHERE claim_id IS NOT NULL;
  CREATE INDEX events_by_task ON events (task) WHERE task IS NOT NULL;
  CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
  CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
    BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;

  CREATE TABLE notes (
    message_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    task TEXT NOT NULL,
    from_agent TEXT NOT NULL,
    to_agent TEXT NOT NULL,
    category TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unread', 'read', 'acked')),
    requires_ack INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    read_ms INTEGER,
    acked_ms INTEGER,
    acked_by TEXT
  ) STRICT;
  CREATE INDEX notes_by_recipient ON notes (to_agent, state);

  CREATE TABLE incursions (
    pair TEXT PRIMARY KEY,
    since_boot TEXT NOT NULL,
    since_mono_ms REAL NOT NULL,
    since_wall_ms INTEGER NOT NULL,
    count INTEGER NOT NULL,
    event_id TEXT NOT NULL
  ) STRICT;
  CREATE INDEX incursions_by_event ON incursions (event_id);

  CREATE TABLE tickets (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    holder TEXT NOT NULL,
    scopes TEXT NOT NULL,
    refreshed_boot TEXT NOT NULL,
    refreshed_mono_ms REAL NOT NULL,
    refreshed_wall_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE tasks (
    task_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('in_progress', 'done', 'failed')),
    title TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    summary TEXT
  ) STRICT;
  CREATE INDEX tasks_by_owner ON tasks (owner, state);
  `,
  `
  -- A pid alone names nobody for long: what a session belongs to is a process of one boot, by its start.
  ALTER TABLE agents DROP COLUMN session_pid;
  ALTER TABLE agents ADD COLUMN session_process TEXT;
  ALTER TABLE agents ADD COLUMN session_tree TEXT;
  CREATE INDEX agents_by_tree ON agents (session_tree) WHERE session_tree IS NOT NULL;

  ALTER TABLE claims ADD COLUMN tree TEXT;
  ALTER TABLE claims ADD COLUMN told_ms INTEGER;
  `,
  `
  -- A change is an entry, and what one machine alone knows is in no entry: it has tables of its own, called local_.
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    wall_ms INTEGER NOT NULL,
    haid TEXT,
    session_id TEXT,
    run_id TEXT,
    -- Events are kept for ever, entries are not: an entry names its events.
    first_event INTEGER,
    last_event INTEGER,
    -- Of all puts up to and with this one, so that a bound on their size is found without reading them.
    bytes_total INTEGER NOT NULL,
    tables TEXT NOT NULL,
    puts TEXT NOT NULL
  ) STRICT;
  -- What was there before is in no entry, so entry 1 of such a store was never kept.
  INSERT INTO entries (seq, id, wall_ms, bytes_total, tables, puts)
    SELECT 2, 'before-entries', max(wall_ms), 0, '', '[]' FROM events HAVING count(*) > 0;

  CREATE TABLE local_settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO local_settings
    SELECT key, value FROM settings WHERE key = 'case-sensitive' OR key GLOB 'ledger:*' OR key GLOB 'exported:*';
  DELETE FROM settings WHERE key IN (SELECT key FROM local_settings);

  CREATE TABLE local_agents (
    haid TEXT PRIMARY KEY,
    beat_count INTEGER,
    beat_boot TEXT,
    beat_mono_ms REAL,
    beat_wall_ms INTEGER,
    seen_boot TEXT,
    seen_count INTEGER,
    seen_mono_ms REAL,
    seen_age_ms REAL,
    -- The session that these are the processes of: of a later one they say nothing.
    process_epoch INTEGER,
    session_process TEXT,
    session_tree TEXT
  ) STRICT, WITHOUT ROWID;
  INSERT INTO local_agents
    SELECT haid, beat_count, beat_boot, beat_mono_ms, beat_wall_ms, seen_boot, seen_count, seen_mono_ms, seen_age_ms,
      session_epoch, session_process, session_tree FROM agents;
  CREATE INDEX local_agents_by_boot ON local_agents (beat_boot);
  CREATE INDEX local_agents_by_tree ON local_agents (session_tree) WHERE session_tree IS NOT NULL;
  DROP INDEX agents_by_boot;
  DROP INDEX agents_by_tree;
  ALTER TABLE agents DROP COLUMN beat_count;
  ALTER TABLE agents DROP COLUMN beat_boot;
  ALTER TABLE agents DROP COLUMN beat_mono_ms;
  ALTER TABLE agents DROP COLUMN beat_wall_ms;
  ALTER TABLE agents DROP COLUMN seen_boot;
  ALTER TABLE agents DROP COLUMN seen_count;
  ALTER TABLE agents DROP COLUMN seen_mono_ms;
  ALTER TABLE agents DROP COLUMN seen_age_ms;
  ALTER TABLE agents DROP COLUMN session_process;
  ALTER TABLE agents DROP COLUMN session_tree;

  CREATE TABLE local_claims (
    epoch INTEGER PRIMARY KEY,
    worktree TEXT NOT NULL,
    tree TEXT,
    -- The reading at the grant of this wall time: of a renewal elsewhere it says nothing.
    read_wall_ms INTEGER NOT NULL,
    granted_boot TEXT NOT NULL,
    granted_mono_ms REAL NOT NULL
  ) STRICT;
  INSERT INTO local_claims SELECT epoch, worktree, tree, granted_wall_ms, granted_boot, granted_mono_ms FROM claims;
  ALTER TABLE claims DROP COLUMN worktree;
  ALTER TABLE claims DROP COLUMN tree;
  ALTER TABLE claims DROP COLUMN granted_boot;
  ALTER TABLE claims DROP COLUMN granted_mono_ms;

  CREATE TABLE local_incursions (
    pair TEXT PRIMARY KEY,
    read_wall_ms INTEGER NOT NULL,
    since_boot TEXT NOT NULL,
    since_mono_ms REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO local_incursions SELECT pair, since_wall_ms, since_boot, since_mono_ms FROM incursions;
  ALTER TABLE incursions DROP COLUMN since_boot;
  ALTER TABLE incursions DROP COLUMN since_mono_ms;

  CREATE TABLE local_tickets (
    ticket INTEGER PRIMARY KEY,
    process TEXT,
    refreshed_boot TEXT NOT NULL,
    refreshed_mono_ms REAL NOT NULL,
    refreshed_wall_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO local_tickets SELECT ticket, NULL, refreshed_boot, refreshed_mono_ms, refreshed_wall_ms FROM tickets;
  ALTER TABLE tickets DROP COLUMN refreshed_boot;
  ALTER TABLE tickets DROP COLUMN refreshed_mono_ms;
  ALTER TABLE tickets DROP COLUMN refreshed_wall_ms;

  -- The order of notes is a number that they are given, the same on every machine and after a VACUUM.
  CREATE TABLE numbered_notes (
    number INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE,
    thread_id TEXT NOT NULL,
    task TEXT NOT NULL,
    from_agent TEXT NOT NULL,
    to_agent TEXT NOT NULL,
    category TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unread', 'read', 'acked')),
    requires_ack INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    read_ms INTEGER,
    acked_ms INTEGER,
    acked_by TEXT,
    next_action TEXT,
    requested_action TEXT,
    urgency TEXT
  ) STRICT;
  INSERT INTO numbered_notes (message_id, thread_id, task, from_agent, to_agent, category, subject, body, state,
      requires_ack, created_ms, read_ms, acked_ms, acked_by)
    SELECT message_id, thread_id, task, from_agent, to_agent, category, subject, body, state,
      requires_ack, created_ms, read_ms, acked_ms, acked_by FROM notes ORDER BY rowid;
  DROP TABLE notes;
  ALTER TABLE numbered_notes RENAME TO notes;
  CREATE INDEX notes_by_recipient ON notes (to_agent, state);
  `,
  `
  -- Tasks that are dispatched: they wait in a queue before anybody owns them, and have more ways to end.
  CREATE TABLE dispatched_tasks (
    task_id TEXT PRIMARY KEY,
    owner TEXT,
    state TEXT NOT NULL
      CHECK (state IN ('queued', 'parked', 'in_progress', 'triage', 'done', 'partial', 'failed', 'canceled')),
    title TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    summary TEXT,
    needs TEXT,
    due_ms INTEGER,
    wake_ms INTEGER,
    deadline_ms INTEGER,
    token_budget INTEGER,
    attempts INTEGER,
    failures INTEGER,
    reason TEXT
  ) STRICT;
  INSERT INTO dispatched_tasks (task_id, owner, state, title, started_ms, ended_ms, summary)
    SELECT task_id, owner, state, title, started_ms, ended_ms, summary FROM tasks;
  DROP TABLE tasks;
  ALTER TABLE dispatched_tasks RENAME TO tasks;
  CREATE INDEX tasks_by_owner ON tasks (owner, state);
  CREATE INDEX tasks_by_needs ON tasks (state, needs, due_ms, task_id) WHERE needs IS NOT NULL;
  CREATE INDEX tasks_by_deadline ON tasks (deadline_ms) WHERE deadline_ms IS NOT NULL AND ended_ms IS NULL;

  CREATE TABLE contracts (task_id TEXT PRIMARY KEY, contract TEXT NOT NULL) STRICT;

  CREATE TABLE workers (
    worker_id TEXT PRIMARY KEY,
    instance_id TEXT NOT NULL,
    url TEXT,
    speaks TEXT NOT NULL CHECK (speaks IN ('extension', 'plain')),
    state TEXT NOT NULL CHECK (state IN ('ready', 'busy', 'draining', 'gone')),
    ttl_s INTEGER NOT NULL,
    profile TEXT NOT NULL
  ) STRICT;
  CREATE TABLE local_workers (
    worker_id TEXT PRIMARY KEY,
    -- Whose lease this is: of a later instance it says nothing.
    renewed_instance TEXT NOT NULL,
    seq INTEGER NOT NULL,
    renewed_boot TEXT NOT NULL,
    renewed_mono_ms REAL NOT NULL,
    renewed_wall_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE attempts (
    attempt_id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    worker_id TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    state TEXT NOT NULL,
    remote_id TEXT,
    sent_ms INTEGER NOT NULL,
    accepted_ms INTEGER,
    ended_ms INTEGER,
    is_late INTEGER NOT NULL,
    result TEXT
  ) STRICT;
  CREATE INDEX attempts_by_task ON attempts (task_id, number);
  CREATE INDEX attempts_open ON attempts (state) WHERE state IN ('sent', 'accepted');

  CREATE TABLE token_reservations (
    reservation_id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    settled INTEGER,
    source TEXT
  ) STRICT;
  CREATE INDEX token_reservations_by_task ON token_reservations (task_id, attempt);

  CREATE TABLE assignments (
    assignment_id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    from_peer TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    run_id TEXT,
    accepted_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    contract TEXT NOT NULL,
    result TEXT
  ) STRICT;
  CREATE INDEX assignments_by_task ON assignments (task_id, attempt);
  CREATE INDEX assignments_open ON assignments (worker_id, state) WHERE state IN ('accepted', 'running');
  `,
  `
  ALTER TABLE assignments ADD COLUMN asks TEXT;
  `,
  `
  -- Of a machine alone: in a fleet the engine has them.
  CREATE TABLE local_annex (
    name TEXT PRIMARY KEY,
    laid_ms INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  `,
]
