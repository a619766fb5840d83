// Tables of `coordination.db`. Entries are never edited once released; a change is a new entry.

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
]
