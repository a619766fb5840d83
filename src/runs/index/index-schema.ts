// The tables of the run index. It is derived from the records alone, so a new version may also throw it away and read them again.

/** Words that have a fixed number, because rows are told apart by them. */
export const CALL_TYPE = { id: 1, text: 'tool_call' } as const

/**
 * What nearly every call has. Such calls are left out of the index of that column, which would cost a quarter of the time to
 * take a call in: whoever asks for them finds them by any other index, or by time, one after the other.
 */
export const COMMON = {
  decision: { id: 2, text: 'ALLOW' },
  reason: { id: 3, text: 'DEFAULT_ALLOW' },
  status: { id: 4, text: 'OK' },
} as const

// Of FTS5: what one transaction adds is sorted in memory and written once, and pieces are put together sixteen at a time instead of
// a little with every commit.

/**
 * An entry is a call, made from its three events, or any other event; its full text is in the record, at these places.
 * The indexes by run and another column serve questions about one run; first_entry and last_entry bound a search for words.
 */
export const INDEX_MIGRATIONS = [
  `CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
   INSERT INTO words VALUES ${[CALL_TYPE, ...Object.values(COMMON)].map(({ id, text }) => `(${id}, '${text}')`).join(', ')};
   CREATE TABLE records (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     inode INTEGER NOT NULL,
     changed_ms REAL NOT NULL,
     mark TEXT NOT NULL,
     next INTEGER NOT NULL,
     looked_at INTEGER NOT NULL,
     events INTEGER NOT NULL,
     bad_lines INTEGER NOT NULL,
     newer_events INTEGER NOT NULL
   );
   CREATE TABLE bad_lines (record INTEGER NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (record, at)) WITHOUT ROWID;
   CREATE TABLE runs (
     id INTEGER PRIMARY KEY,
     record INTEGER NOT NULL,
     run_id TEXT NOT NULL,
     haid TEXT,
     repo_path TEXT,
     first_entry INTEGER,
     last_entry INTEGER,
     UNIQUE (record, run_id)
   );
   CREATE INDEX runs_by_id ON runs (run_id);
   CREATE TABLE entries (
     id INTEGER PRIMARY KEY,
     run INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     type INTEGER NOT NULL,
     call_id TEXT,
     agent INTEGER,
     server INTEGER,
     tool INTEGER,
     decision INTEGER,
     rule INTEGER,
     reason INTEGER,
     status INTEGER,
     latency_ms INTEGER,
     first_at INTEGER,
     first_bytes INTEGER,
     decision_at INTEGER,
     decision_bytes INTEGER,
     end_at INTEGER,
     end_bytes INTEGER
   );
   CREATE INDEX entries_by_time ON entries (at_ms);
   CREATE INDEX entries_by_run ON entries (run, at_ms);
   CREATE INDEX entries_by_type ON entries (type, at_ms) WHERE type <> ${CALL_TYPE.id};
   CREATE INDEX entries_by_call ON entries (call_id) WHERE call_id IS NOT NULL;
   CREATE INDEX entries_headless ON entries (id) WHERE first_at IS NULL;
   CREATE INDEX entries_by_agent ON entries (agent, at_ms);
   CREATE INDEX entries_by_server ON entries (server, at_ms);
   CREATE INDEX entries_by_tool ON entries (tool, at_ms);
   CREATE INDEX entries_by_decision ON entries (decision, at_ms) WHERE decision <> ${COMMON.decision.id};
   CREATE INDEX entries_by_rule ON entries (rule, at_ms) WHERE rule IS NOT NULL;
   CREATE INDEX entries_by_reason ON entries (reason, at_ms) WHERE reason <> ${COMMON.reason.id};
   CREATE INDEX entries_by_status ON entries (status, at_ms) WHERE status <> ${COMMON.status.id};
   CREATE VIRTUAL TABLE texts USING fts5(text, content='', contentless_delete=1);
   INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216), ('automerge', 0);
   CREATE INDEX entries_by_run_and_type ON entries (run, type, at_ms) WHERE type <> ${CALL_TYPE.id};
   CREATE INDEX entries_by_run_and_decision ON entries (run, decision, at_ms) WHERE decision <> ${COMMON.decision.id};
   CREATE INDEX entries_by_run_and_rule ON entries (run, rule, at_ms) WHERE rule IS NOT NULL;
   CREATE INDEX entries_by_run_and_reason ON entries (run, reason, at_ms) WHERE reason <> ${COMMON.reason.id};
   CREATE INDEX entries_by_run_and_status ON entries (run, status, at_ms) WHERE status <> ${COMMON.status.id};`,
] as const

/** Each event of a call has a row of its own in `texts`, because they come at different times: entry number times this, plus its part. */
export const TEXT_PARTS = 4
