// The pulse of a run: what its agent does at the moment, written to its state file by the watcher, so that a command that shows fifty agents reads fifty small files.
import type { Clock, Timer } from '../clock.ts'
import { ACTIVITY_MS, PULSE_BUSY_MS, PULSE_MS, PULSE_SOON_MS } from '../limits.ts'
import type { StateEvent } from '../sessions/keeper.ts'
import { type CallSigns, RecordedSigns } from './call-signs.ts'
import { Silences } from './signs.ts'

export interface Pulse extends CallSigns {
  /** Of the session, in the words of seed 001. */
  readonly state: string
  readonly state_since: string
  readonly title: string
  /** A hook or the program itself says that it works. */
  readonly works: { readonly source: string; readonly evidence: string | null } | null
  /** The last output, input or call, to within `PULSE_MS`. */
  readonly active_at: string
  /** Since when it has not been silent for a minute. */
  readonly busy_since: string
  readonly usual_silence_ms: number | null
  /** The last line on its screen, to within `PULSE_MS`; absent until it was asked for. */
  readonly last_line?: string
}

export interface PulseParts {
  readonly clock: Clock
  readonly runDir: string
  /** As an earlier watcher left it. */
  readonly booked: Pulse | null
  /** What is on its screen; nothing when it does not answer. */
  readonly lastLine: () => Promise<string | undefined>
  readonly onChange: (pulse: Pulse) => void
}

type Shown = Pick<Pulse, 'state' | 'state_since' | 'title' | 'works' | 'last_line'>

export class RunPulse {
  readonly #parts: PulseParts
  readonly #signs: RecordedSigns
  readonly #silences: Silences
  #shown: Shown
  #calls: CallSigns
  #activeMonoMs: number
  #activeMs: number
  #busyMs: number
  #told = ''
  #timer: { readonly dueMs: number; readonly timer: Timer } | undefined
  #isOver = false
  /** There was output since the screen was asked for. */
  #isNew = true

  constructor(parts: PulseParts) {
    const { clock, runDir, booked } = parts
    this.#parts = parts
    this.#signs = new RecordedSigns(runDir, booked ?? {})
    this.#silences = new Silences(booked?.usual_silence_ms ?? null)
    this.#activeMonoMs = clock.monoMs()
    this.#activeMs = clock.wallMs()
    this.#busyMs = booked === null ? this.#activeMs : Date.parse(booked.busy_since)
    this.#shown = booked ?? { state: 'idle', state_since: isoOf(this.#activeMs), title: '', works: null }
    this.#calls = this.#signs.look(this.#activeMs)
    this.#arm(PULSE_MS)
  }

  get calls(): number {
    return this.#calls.calls.total
  }

  /** There was output or input. */
  happened(): void {
    const { clock } = this.#parts
    this.#isNew = true
    const nowMs = clock.monoMs()
    const silentMs = nowMs - this.#activeMonoMs
    // Activity is told once a second: what is shorter than two of these is none.
    if (this.#shown.works !== null && silentMs > 2 * ACTIVITY_MS) this.#silences.ended(Math.floor(silentMs))
    this.#activeMonoMs = nowMs
    this.#activeMs = clock.wallMs()
    if (silentMs > PULSE_BUSY_MS) this.#busyMs = this.#activeMs
  }

  state({ state, state_ms, title, needs_input: needs }: StateEvent): void {
    const { clock } = this.#parts
    const isSame = state === this.#shown.state
    this.#shown = {
      ...this.#shown,
      state,
      state_since: isSame ? this.#shown.state_since : isoOf(clock.wallMs() - state_ms),
      title,
      works: needs.value || needs.source === 'none' ? null : { source: needs.source, evidence: needs.evidence },
    }
    this.#arm(PULSE_SOON_MS)
  }

  stop(): void {
    this.#isOver = true
    this.#timer?.timer.cancel()
    this.#signs.close()
  }

  #arm(ms: number): void {
    const { clock } = this.#parts
    const dueMs = clock.monoMs() + ms
    if (this.#isOver || (this.#timer !== undefined && this.#timer.dueMs <= dueMs)) return
    this.#timer?.timer.cancel()
    const timer = clock.after(ms, () => {
      this.#timer = undefined
      this.#tell()
      if (this.#isNew) void this.#lookAtScreen()
      this.#arm(PULSE_MS)
    })
    this.#timer = { dueMs, timer }
  }

  async #lookAtScreen(): Promise<void> {
    this.#isNew = false
    const line = await this.#parts.lastLine()
    if (this.#isOver || line === undefined) return
    this.#shown = { ...this.#shown, last_line: line }
    this.#tell()
  }

  #tell(): void {
    const { clock, onChange } = this.#parts
    const before = this.#calls.calls.total
    this.#calls = this.#signs.look(clock.wallMs())
    if (this.#calls.calls.total !== before) this.happened()
    const pulse: Pulse = {
      ...this.#shown,
      active_at: isoOf(this.#activeMs),
      busy_since: isoOf(this.#busyMs),
      usual_silence_ms: this.#silences.usualMs,
      ...this.#calls,
    }
    const text = JSON.stringify(pulse)
    if (text === this.#told) return
    this.#told = text
    onChange(pulse)
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()
