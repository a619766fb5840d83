// Rows of dispatch as values of the store's types, and back, with the SQL that reads and writes them.
import {
  type Assignment,
  type Attempt,
  type Dispatch,
  type DispatchReader,
  type DispatchWriter,
  type TokenReservation,
  type Worker,
  workerSign,
} from '../dispatched.ts'
import type { Row, SharedTable } from '../log-entry.ts'
import type { Moment } from '../moment.ts'
import { conditions } from './conditions.ts'
import { ELSEWHERE, number, numberOrNull, text, textOrNull } from './row-values.ts'
import type { Statements } from './statements.ts'

const WORKERS = `SELECT workers.*, local_workers.*, workers.worker_id AS worker_id, seen_boot, seen_mono_ms, seen_age_ms, beat_wall_ms
  FROM workers LEFT JOIN local_workers USING (worker_id) LEFT JOIN local_agents ON haid = 'worker:' || workers.worker_id`

export function createDispatchReader(sql: Statements): DispatchReader {
  return {
    contract: (taskId) => {
      const row = sql.one('SELECT contract FROM contracts WHERE task_id = ?', taskId)
      return row === undefined ? undefined : text(row, 'contract')
    },
    lastSign(who) {
      const row = sql.one(
        'SELECT seen_boot, seen_mono_ms, seen_age_ms, beat_wall_ms FROM local_agents WHERE haid = ?',
        who,
      )
      return row === undefined ? undefined : signFrom(row)
    },
    // From one needs to the next by the index, however many tasks have the same. It is an index of those that have
    // needs, and taken only where the question says so.
    queueHeads: () =>
      sql
        .all(
          `WITH RECURSIVE kinds (needs) AS (
             SELECT min(needs) FROM tasks WHERE state = 'queued' AND needs IS NOT NULL
             UNION ALL
             SELECT (SELECT min(needs) FROM tasks WHERE state = 'queued' AND needs > kinds.needs) FROM kinds
             WHERE kinds.needs IS NOT NULL
           )
           SELECT needs, (SELECT task_id FROM tasks WHERE state = 'queued' AND tasks.needs = kinds.needs
               ORDER BY due_ms, task_id LIMIT 1) AS task_id,
             (SELECT min(due_ms) FROM tasks WHERE state = 'queued' AND tasks.needs = kinds.needs) AS due
           FROM kinds WHERE needs IS NOT NULL ORDER BY due, task_id`,
        )
        .map((row) => ({ taskId: text(row, 'task_id'), needs: text(row, 'needs') })),
    parked: () =>
      sql
        .all(
          `SELECT task_id, needs, wake_ms FROM tasks WHERE state = 'parked' AND needs IS NOT NULL ORDER BY due_ms, task_id`,
        )
        .map((row) => ({
          taskId: text(row, 'task_id'),
          needs: text(row, 'needs'),
          wakeMs: numberOrNull(row, 'wake_ms'),
        })),
    deadlines: (byMs) => ({
      due: sql
        .all('SELECT task_id FROM tasks WHERE deadline_ms <= ? AND ended_ms IS NULL ORDER BY deadline_ms', byMs)
        .map((row) => text(row, 'task_id')),
      nextMs: numberOrNull(
        sql.one('SELECT min(deadline_ms) AS next FROM tasks WHERE deadline_ms > ? AND ended_ms IS NULL', byMs) ?? {},
        'next',
      ),
    }),
    worker: (workerId) => {
      const row = sql.one(`${WORKERS} WHERE worker_id = ?`, workerId)
      return row === undefined ? undefined : workerFrom(row)
    },
    workers: () => sql.all(`${WORKERS} ORDER BY worker_id`).map(workerFrom),
    attempts({ taskId, open }) {
      const where = conditions({ task_id: taskId }, open === true ? [`state IN ('sent', 'accepted')`] : [])
      return sql.all(`SELECT * FROM attempts ${where.sql} ORDER BY task_id, number`, ...where.values).map(attemptFrom)
    },
    tokenReservations: (taskId) =>
      sql.all('SELECT * FROM token_reservations WHERE task_id = ? ORDER BY attempt', taskId).map(reservationFrom),
    assignment: (assignmentId) => {
      const row = sql.one('SELECT * FROM assignments WHERE assignment_id = ?', assignmentId)
      return row === undefined ? undefined : assignmentFrom(row)
    },
    assignments({ workerId, taskId, open }) {
      const where = conditions(
        { worker_id: workerId, task_id: taskId },
        open === true ? [`state IN ('accepted', 'running')`] : [],
      )
      return sql
        .all(`SELECT * FROM assignments ${where.sql} ORDER BY accepted_ms, assignment_id`, ...where.values)
        .map(assignmentFrom)
    },
  }
}

export interface Putting {
  readonly share: (table: SharedTable, key: string, row: Row) => void
  readonly keepLocally: (table: string, key: string, row: Row) => void
  readonly sign: (who: string) => void
}

export function createDispatchWriter({ share, keepLocally, sign }: Putting): DispatchWriter {
  return {
    sign,
    putContract: (taskId, contract) => share('contracts', 'task_id', { task_id: taskId, contract }),
    putWorker(worker) {
      if (worker.state !== 'gone') sign(workerSign(worker.workerId))
      share('workers', 'worker_id', {
        worker_id: worker.workerId,
        instance_id: worker.instanceId,
        url: worker.url,
        speaks: worker.speaks,
        state: worker.state,
        ttl_s: worker.ttlSeconds,
        profile: worker.profile,
      })
      // Of one that announces itself elsewhere nothing is known here: a lease of ours would outlive its next sign.
      if (!worker.isHere) return
      keepLocally('local_workers', 'worker_id', {
        worker_id: worker.workerId,
        renewed_instance: worker.instanceId,
        seq: worker.seq,
        renewed_boot: worker.renewed.boot,
        renewed_mono_ms: worker.renewed.monoMs,
        renewed_wall_ms: worker.renewed.wallMs,
      })
    },
    putAttempt: (attempt) =>
      share('attempts', 'attempt_id', {
        attempt_id: `${attempt.taskId}#${attempt.number}`,
        task_id: attempt.taskId,
        number: attempt.number,
        worker_id: attempt.workerId,
        instance_id: attempt.instanceId,
        state: attempt.state,
        remote_id: attempt.remoteId,
        sent_ms: attempt.sentMs,
        accepted_ms: attempt.acceptedMs,
        ended_ms: attempt.endedMs,
        is_late: attempt.isLate ? 1 : 0,
        result: attempt.result,
      }),
    putTokenReservation: (reservation) =>
      share('token_reservations', 'reservation_id', {
        reservation_id: `${reservation.taskId}#${reservation.attempt}`,
        task_id: reservation.taskId,
        attempt: reservation.attempt,
        reserved: reservation.reserved,
        settled: reservation.settled,
        source: reservation.source,
      }),
    putAssignment: (assignment) =>
      share('assignments', 'assignment_id', {
        assignment_id: assignment.assignmentId,
        task_id: assignment.taskId,
        attempt: assignment.attempt,
        from_peer: assignment.from,
        worker_id: assignment.workerId,
        instance_id: assignment.instanceId,
        context_id: assignment.contextId,
        state: assignment.state,
        run_id: assignment.runId,
        accepted_ms: assignment.acceptedMs,
        ended_ms: assignment.endedMs,
        contract: assignment.contract,
        result: assignment.result,
        asks: assignment.asks,
      }),
  }
}

/** Columns of a task's row that only a dispatched one fills. */
export function dispatchColumns(dispatch: Dispatch | null): Row {
  return {
    needs: dispatch?.needs ?? null,
    due_ms: dispatch?.dueMs ?? null,
    wake_ms: dispatch?.wakeMs ?? null,
    deadline_ms: dispatch?.deadlineMs ?? null,
    token_budget: dispatch?.tokenBudget ?? null,
    attempts: dispatch?.attempts ?? null,
    failures: dispatch?.failures ?? null,
    reason: dispatch?.reason ?? null,
  }
}

export function dispatchFrom(row: Row): Dispatch | null {
  if (row['needs'] === null) return null
  return {
    needs: text(row, 'needs'),
    dueMs: number(row, 'due_ms'),
    wakeMs: numberOrNull(row, 'wake_ms'),
    deadlineMs: numberOrNull(row, 'deadline_ms'),
    tokenBudget: numberOrNull(row, 'token_budget'),
    attempts: number(row, 'attempts'),
    failures: number(row, 'failures'),
    reason: textOrNull(row, 'reason'),
  }
}

/** The lease of a worker that announces itself elsewhere is renewed by its signs, as far as any were heard of. */
function workerFrom(row: Row): Worker {
  const isHere = row['renewed_instance'] === row['instance_id']
  return {
    workerId: text(row, 'worker_id'),
    instanceId: text(row, 'instance_id'),
    url: textOrNull(row, 'url'),
    speaks: text(row, 'speaks') as Worker['speaks'],
    state: text(row, 'state') as Worker['state'],
    profile: text(row, 'profile'),
    ttlSeconds: number(row, 'ttl_s'),
    seq: isHere ? number(row, 'seq') : 0,
    renewed: isHere
      ? {
          boot: text(row, 'renewed_boot'),
          monoMs: number(row, 'renewed_mono_ms'),
          wallMs: number(row, 'renewed_wall_ms'),
        }
      : (signFrom(row) ?? { ...ELSEWHERE, wallMs: 0 }),
    isHere,
  }
}

/** When it was given, by this machine's clock. */
function signFrom(row: Row): Moment | undefined {
  if (row['seen_boot'] === null) return undefined
  return {
    boot: text(row, 'seen_boot'),
    monoMs: number(row, 'seen_mono_ms') - number(row, 'seen_age_ms'),
    wallMs: number(row, 'beat_wall_ms'),
  }
}

function attemptFrom(row: Row): Attempt {
  return {
    taskId: text(row, 'task_id'),
    number: number(row, 'number'),
    workerId: text(row, 'worker_id'),
    instanceId: text(row, 'instance_id'),
    state: text(row, 'state') as Attempt['state'],
    remoteId: textOrNull(row, 'remote_id'),
    sentMs: number(row, 'sent_ms'),
    acceptedMs: numberOrNull(row, 'accepted_ms'),
    endedMs: numberOrNull(row, 'ended_ms'),
    result: textOrNull(row, 'result'),
    isLate: number(row, 'is_late') === 1,
  }
}

function reservationFrom(row: Row): TokenReservation {
  return {
    taskId: text(row, 'task_id'),
    attempt: number(row, 'attempt'),
    reserved: number(row, 'reserved'),
    settled: numberOrNull(row, 'settled'),
    source: textOrNull(row, 'source'),
  }
}

function assignmentFrom(row: Row): Assignment {
  return {
    assignmentId: text(row, 'assignment_id'),
    taskId: text(row, 'task_id'),
    attempt: number(row, 'attempt'),
    from: text(row, 'from_peer'),
    workerId: text(row, 'worker_id'),
    instanceId: text(row, 'instance_id'),
    contextId: text(row, 'context_id'),
    state: text(row, 'state') as Assignment['state'],
    contract: text(row, 'contract'),
    runId: textOrNull(row, 'run_id'),
    acceptedMs: number(row, 'accepted_ms'),
    endedMs: numberOrNull(row, 'ended_ms'),
    result: textOrNull(row, 'result'),
    asks: textOrNull(row, 'asks'),
  }
}
