// The state of a run: what the lines of its record add up to.
import { bootId, UNKNOWN_BOOT } from '../boot-id.ts'
import { systemClock } from '../clock.ts'
import type { QueuedEvent } from '../events/event-lines.ts'
import { UPTIME_MS_MAX } from '../limits.ts'
import { enterCounts, type RecordedCount } from '../policy/decide/counted.ts'
import { MemoryCounters, type SavedCell } from '../policy/decide/memory-counters.ts'
import type { Cell, CellWrite, Counters, Decision } from '../policy/types.ts'
import { isObject } from '../plain-object.ts'
import { Approvals, type Request, type StandingAnswer } from './approvals.ts'
import { CallNumbers } from './call-numbers.ts'
import type { RecordedEvent } from './recorded-event.ts'
import { type BootMoment, emptyTotals, enterRunEvent, fieldsOf, momentIn, type RunTotals } from './run-totals.ts'

/** A fold as a checkpoint has it. */
export interface SavedFold {
  readonly totals: RunTotals
  readonly starts: readonly number[]
  readonly decisions: readonly number[]
  readonly open: readonly string[]
  readonly boots: readonly (readonly [string, number])[]
  readonly latest: BootMoment | null
  readonly cells: readonly SavedCell[]
  readonly questions: readonly Request[]
  readonly answers: readonly StandingAnswer[]
  readonly terminated: Decision | null
}

/** Boots whose lines may yet come behind lines of later ones. */
const BOOTS_MAX = 16

/**
 * Numbers of calls, counters, approvals and termination belong to the run; totals are those of its segment. Every event is
 * entered in two steps. What it *counts* (counters, approvals, termination) holds as soon as a process has decided, also
 * while its record cannot be written. What it *adds up to* (numbers, totals) holds when the line is in the record.
 */
export class RunFold implements Counters {
  readonly totals: RunTotals
  readonly approvals = new Approvals()
  readonly #cells = new MemoryCounters()
  readonly #starts: CallNumbers
  readonly #decisions: CallNumbers
  /** Calls that have started and not ended. */
  readonly #open: Set<string>
  /** What is added to monotonic times of earlier boots. */
  readonly #boots: Map<string, number>
  /** The boot that times are of, and the latest of them. */
  #latest: BootMoment | null
  terminated: Decision | null
  #marked: (Pick<RunFold, 'terminated'> & Pick<Approvals, 'questions' | 'answers'>) | null = null

  constructor(saved?: SavedFold) {
    this.totals = saved?.totals ?? emptyTotals()
    this.#starts = new CallNumbers(saved?.starts)
    this.#decisions = new CallNumbers(saved?.decisions)
    this.#open = new Set(saved?.open)
    this.#boots = new Map(saved?.boots)
    this.#latest = saved?.latest ?? null
    this.terminated = saved?.terminated ?? null
    if (saved === undefined) return
    this.#cells.restore(saved.cells)
    this.approvals.questions = saved.questions
    this.approvals.answers = saved.answers
  }

  saved(): SavedFold {
    return {
      totals: this.totals,
      starts: this.#starts.saved(),
      decisions: this.#decisions.saved(),
      open: [...this.#open],
      boots: [...this.#boots],
      latest: this.#latest,
      cells: this.#cells.saved(this.#latest?.monoMs ?? 0),
      questions: this.approvals.questions,
      answers: this.approvals.answers,
      terminated: this.terminated,
    }
  }

  /** The last call number of the record. */
  get lastNumber(): number {
    return this.#starts.last
  }

  get hasOpenCalls(): boolean {
    return this.#open.size > 0
  }

  get(key: string, args: string): Cell | undefined {
    return this.#cells.get(key, args)
  }

  /** For tools that decide without a record. */
  apply(writes: readonly CellWrite[], nowMs: number): void {
    this.#cells.apply(writes, nowMs)
  }

  /** Throws where a decision would need one more budget or bucket than a run may have. */
  refuseTooMany(writes: readonly CellWrite[], nowMs: number): void {
    for (const { key, args } of writes) this.#cells.refuseTooMany(key + args, nowMs)
  }

  /**
   * Decisions are made at this moment. A monotonic clock begins anew with each boot: what is remembered is moved so that
   * its latest moment is now. So no window or bucket is freed by a reboot, and none is held for longer than its own length.
   */
  moveTo(now: BootMoment): void {
    this.#timeOf(now, true)
  }

  /** A line that was found in the record. Lines that stand there twice count once; what is not an event is skipped. */
  enterStored(stored: RecordedEvent): void {
    const event = isPlausible(momentIn(stored)) ? stored : { ...stored, mono_ms: undefined }
    if (!this.#addUp(event.type, event, event.call?.seq)) return
    this.#count(event.type, event, event, String(event.ts))
  }

  /** An event of this process that is about to be recorded. */
  count({ type, fields, envelope, ts }: QueuedEvent): void {
    const who = type === 'approval_requested' ? (JSON.parse(`{${envelope}}`) as RecordedEvent) : fields
    this.#count(type, fields, who, ts)
  }

  /** Gives the calls of these events their numbers; they hold once the events are written. */
  number(events: readonly QueuedEvent[]): void {
    let last = this.lastNumber
    let isStarted = false
    for (const { type, fields } of events) {
      if (fields.call === undefined) continue
      if (type === 'tool_call_start') fields.call.seq = last += 1
      else if (type === 'tool_call_decision' && isStarted) fields.call.seq = last
      isStarted = type === 'tool_call_start'
    }
  }

  /** Events of this process that are in the record now; they were counted before. */
  written(events: readonly QueuedEvent[]): void {
    this.#cells.keep()
    this.#marked = null
    for (const { type, fields, ts } of events) this.#addUp(type, { ...fields, type, ts }, fields.call?.seq)
  }

  /** From here on what is counted can be taken back, until it is written. */
  mark(): void {
    this.#cells.mark()
    const { questions, answers } = this.approvals
    this.#marked = { terminated: this.terminated, questions, answers }
  }

  undo(): void {
    if (this.#marked === null) return
    this.#cells.undo()
    const { terminated, questions, answers } = this.#marked
    this.terminated = terminated
    Object.assign(this.approvals, { questions, answers })
    this.#marked = null
  }

  /** False for a line that was seen before. */
  #addUp(type: unknown, event: RecordedEvent, seq: unknown): boolean {
    const { counts } = this.totals
    const id = event.call?.call_id
    switch (type) {
      case 'tool_call_start':
        if (typeof seq === 'number' && !this.#starts.add(seq)) return false
        counts.total += 1
        if (typeof id === 'string') this.#open.add(id)
        return true
      case 'tool_call_decision': {
        if (typeof seq === 'number' && !this.#decisions.add(seq)) return false
        const { action, enforced } = event.decision ?? {}
        const isAllowed = action === 'ALLOW' || enforced === false
        counts[isAllowed ? 'allowed' : action === 'THROTTLE' ? 'throttled' : 'blocked'] += 1
        return true
      }
      case 'tool_call_end':
        if (typeof id !== 'string' || !this.#open.delete(id)) return false
        if (event.status === 'ERROR' || event.status === 'TIMEOUT') counts.errors += 1
        return true
      default:
        enterRunEvent(this.totals, event)
        if (type === 'run_end') this.#open.clear()
        return true
    }
  }

  #count(type: unknown, body: RecordedEvent | QueuedEvent['fields'], who: RecordedEvent, ts: string): void {
    this.approvals.enter(type, body, who, ts)
    if (type === 'tool_call_decision') this.#terminate(fieldsOf(body.decision))
    else if (type === 'budget_raised') this.#raise(fieldsOf(body['budget']))
    const at = momentIn(body)
    if (at === null || !COUNTING.has(type)) return
    const atMs = this.#timeOf(at, false)
    const counters = type === 'tool_call_decision' ? fieldsOf(body.decision)['counters'] : body['counters']
    const argsHash = body.call?.args_hash
    enterCounts(this.#cells, countsIn(counters, atMs - at.monoMs), typeof argsHash === 'string' ? argsHash : '', atMs)
  }

  #terminate({ action, enforced, rule_id, severity, explain, terminate }: Readonly<Record<string, unknown>>): void {
    if (action !== 'TERMINATE_RUN' || enforced === false || this.terminated !== null) return
    const { summary, reason_code } = fieldsOf(explain)
    const { terminate_code, terminate_message } = fieldsOf(terminate)
    this.terminated = {
      action,
      rule_id: typeof rule_id === 'string' ? rule_id : null,
      severity: severity === 'info' || severity === 'critical' ? severity : 'warn',
      reason_code: String(reason_code),
      summary: String(summary),
      enforced: true,
      terminate: { terminate_code: String(terminate_code), terminate_message: String(terminate_message) },
    }
  }

  /** A human allows more: the key is the one that decisions tell with their counters. */
  #raise({ key, calls, cost_units: units }: Readonly<Record<string, unknown>>): void {
    if (typeof key !== 'string' || !key.startsWith('budget ')) return
    const more = (by: unknown): number => (typeof by === 'number' && by > 0 ? by : 0)
    const [spentCalls = 0, spentUnits = 0, moreCalls = 0, moreUnits = 0] = this.#cells.get(key, '') ?? []
    this.#cells.set(key, [spentCalls, spentUnits, moreCalls + more(calls), moreUnits + more(units)], Infinity)
  }

  /** A moment on the clock that the cells are of. `isNow`: everything later is of its boot. */
  #timeOf({ bootId, monoMs }: BootMoment, isNow: boolean): number {
    const latest = this.#latest
    if (latest !== null && latest.bootId !== bootId) {
      const known = this.#boots.get(bootId)
      if (known !== undefined && !isNow) return monoMs + known
      this.#shift(latest.bootId, known === undefined ? monoMs - latest.monoMs : -known)
      this.#boots.delete(bootId)
    }
    this.#latest = { bootId, monoMs: Math.max(monoMs, this.#latest?.monoMs ?? -Infinity) }
    return monoMs
  }

  #shift(from: string, byMs: number): void {
    this.#cells.shift(byMs)
    for (const [boot, offset] of this.#boots) this.#boots.set(boot, offset + byMs)
    this.#boots.set(from, byMs)
    if (this.#boots.size > BOOTS_MAX) this.#boots.delete(this.#boots.keys().next().value ?? '')
    this.#latest = { bootId: from, monoMs: (this.#latest?.monoMs ?? 0) + byMs }
  }
}

/** False for a time that no clock can have shown when the line was written: as the latest it would expire every window. */
function isPlausible(at: BootMoment | null): boolean {
  if (at === null) return true
  const isOfThisBoot = at.bootId === bootId() && at.bootId !== UNKNOWN_BOOT
  return at.monoMs >= 0 && at.monoMs <= (isOfThisBoot ? systemClock.monoMs() : UPTIME_MS_MAX)
}

/** Events whose `counters` count. */
const COUNTING: ReadonlySet<unknown> = new Set(['tool_call_decision', 'tool_call_end', 'tool_call_settled'])

const KEY = /^(budget|rate|errors|repeats|dedupe) [0-9a-f]{20}$/
const KINDS: Readonly<Record<string, string>> = {
  calls: 'budget',
  cost_units: 'budget',
  tokens: 'rate',
  errors: 'errors',
  repeats: 'repeats',
  duplicates: 'dedupe',
}

/** A record can hold anything: what a counter cannot have counted is skipped. */
function countsIn(value: unknown, shiftMs: number): RecordedCount[] {
  if (!Array.isArray(value)) return []
  return (value as unknown[]).filter(isCount).map((count) => ({
    ...count,
    ...(count.until_ms === undefined ? {} : { until_ms: count.until_ms + shiftMs }),
    ...(count.since_ms === undefined ? {} : { since_ms: count.since_ms + shiftMs }),
  }))
}

function isCount(value: unknown): value is RecordedCount {
  if (!isObject(value)) return false
  const { key, counter, before, after, until_ms: until, since_ms: since } = value
  const kind = typeof key === 'string' ? KEY.exec(key)?.[1] : undefined
  if (kind === undefined || typeof counter !== 'string' || KINDS[counter] !== kind) return false
  if (![before, after, until ?? 0, since ?? 0].every((one) => Number.isFinite(one))) return false
  const grows = (after as number) >= (before as number)
  return counter === 'tokens' ? !grows || after === before : grows || counter === 'duplicates'
}
