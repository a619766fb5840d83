// Claims in the path of a call: a write into what another live agent holds is refused, and the first write to a free path claims it.
import type { Clock } from '../../clock.ts'
import type { Conflict } from '../../coordination/claims/conflicts.ts'
import {
  refusalText,
  settleWrite,
  type WriteScope,
  type WriteStanding,
  writeScopes,
  writeStanding,
} from '../../coordination/claims/writes.ts'
import { type Coordination, openCoordination, openCoordinationToRead } from '../../coordination/coordination.ts'
import type { CoordinationOptions } from '../../coordination/coordination.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { roomOptions } from '../../coordination/room-options.ts'
import { actAs, askingHere, type Caller, caller, type CallOrigin } from '../../coordination/who/caller.ts'
import { loadConfig } from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { fleetDoor } from '../../fleet/door.ts'
import { CLEAR_PLACES_MAX, CLEAR_PLACES_MS, TOOLS_ANNOTATED_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import type { Annotations, Decision, Locations } from '../../policy/types.ts'
import { type ClaimAnswer, type FirstWrite, NOTHING_CLAIMED } from './judged-call.ts'
import { type WritingTool, writingTool, writtenTexts } from './written-paths.ts'

export interface ClaimedCall {
  readonly toolName: string
  readonly tags: readonly string[]
  readonly annotations: Annotations | undefined
  readonly args: () => unknown
}

export interface ClaimCheckOptions {
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly locate: (texts: readonly string[]) => Locations
  readonly note: (line: string) => void
}

/** Nothing where there is no project, or its settings cannot be read: that is said, and calls pass. */
export async function openClaimCheck(options: ClaimCheckOptions): Promise<ClaimCheck | undefined> {
  try {
    const [room, { claim_on_write: claims }] = await Promise.all([
      roomOptions({ ...options, fleet: fleetDoor }),
      loadConfig({ cwd: options.cwd, env: options.env }),
    ])
    return new ClaimCheck(options, room, claims.value === true)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    options.note(`claims are not checked: ${error.message}`)
    return undefined
  }
}

export class ClaimCheck {
  readonly #options: ClaimCheckOptions
  readonly #roomOptions: CoordinationOptions
  readonly #claims: boolean
  /** By tool: most write nothing, and then that is all there is to ask. */
  readonly #tools = new Map<
    string,
    { readonly annotations: Annotations | undefined; readonly tool: WritingTool | undefined }
  >()
  /** Where a shim runs, and for whom, stays as it is. */
  #asking: CallOrigin | undefined
  #isSomebody: boolean | undefined
  #room: Coordination | undefined
  /** There is no store, and so no claim: that holds for all that was read before we looked. */
  #isUnclaimed = false
  #hasFailed = false
  /** Places where nothing stood in the writer's way and nothing was left to claim, as of a mark of the store. */
  #clear: { readonly mark: number; readonly untilMs: number; readonly places: Set<string> } | undefined
  /** The same, until what runs now is done. */
  #turn: Set<string> | undefined
  readonly #over = new AbortController()
  /** What is being put on record, one after the other. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: ClaimCheckOptions, room: CoordinationOptions, claims: boolean) {
    this.#options = options
    this.#roomOptions = room
    this.#claims = claims
  }

  /** Who the host session is that the shim was started by, registered by now; nothing where there is none. */
  async agent(): Promise<{ readonly agent_id: string; readonly haid: string } | undefined> {
    const asking = askingHere(this.#options.env)
    // A folder that is no repository does not become one of coordination because a server was started in it.
    if (asking.place?.host === undefined || this.#roomOptions.project.gitCommonDir === undefined) return undefined
    try {
      const room = this.#opened(asking)
      if (room === undefined) return undefined
      const found = caller(room, asking)
      // A revoked agent has a name, though it may not act under it.
      const { haid } = found.agent !== undefined && isRevoked(found) ? found.agent : await actAs(room, asking, found)
      const agent = room.store.read((rows) => rows.agent(haid))
      return agent === undefined ? undefined : { agent_id: agent.agentId, haid }
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#failed(error)
      return undefined
    }
  }

  /** Changes nothing that is free: a call that the policy refuses writes nothing, so it claims nothing. */
  judge(call: ClaimedCall): ClaimAnswer {
    if (this.#isUnclaimed) return NOTHING_CLAIMED
    const tool = this.#toolOf(call)
    if (tool === undefined) return NOTHING_CLAIMED
    try {
      const asking = (this.#asking ??= askingHere(this.#options.env))
      // Before the arguments are read: in most folders nobody holds anything.
      this.#isSomebody ??= isSomebody(asking)
      if (!this.#isSomebody && this.#opened(asking) === undefined) return NOTHING_CLAIMED
      const args = call.args()
      if (typeof args !== 'object' || args === null) return NOTHING_CLAIMED
      const texts = writtenTexts(tool, args as Readonly<Record<string, unknown>>)
      return texts.length === 0 ? NOTHING_CLAIMED : this.#judged(texts, asking)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#failed(error)
      return NOTHING_CLAIMED
    }
  }

  /** The call goes to its server. */
  claim({ asking, scopes }: FirstWrite): void {
    this.#settle(asking, scopes)
  }

  #toolOf({ toolName, tags, annotations }: ClaimedCall): WritingTool | undefined {
    const known = this.#tools.get(toolName)
    if (known !== undefined && known.annotations === annotations) return known.tool
    const tool = writingTool(toolName, tags, annotations)
    if (this.#tools.size < TOOLS_ANNOTATED_MAX) this.#tools.set(toolName, { annotations, tool })
    return tool
  }

  #judged(texts: readonly string[], asking: CallOrigin): ClaimAnswer {
    const room = this.#opened(asking)
    if (room === undefined) return NOTHING_CLAIMED
    const places = [...this.#options.locate(texts).values()].flat()
    const known = this.#known(room)
    if (places.every(({ absolute }) => known.has(absolute))) return NOTHING_CLAIMED
    const found = caller(room, asking)
    if (isRevoked(found)) return { refused: revokedDecision(found), firstWrite: null }
    const scopes = writeScopes(
      room,
      places.map(({ absolute }) => ({ path: absolute, isPattern: false })),
    )
    const { held, free } =
      scopes.length === 0 ? NOBODY : writeStanding(room, scopes, { haid: found.haid, tree: asking.place?.tree })
    if (held.length === 0 && free.length === 0 && known.size < CLEAR_PLACES_MAX)
      for (const { absolute } of places) known.add(absolute)
    if (held.length === 0)
      return { refused: null, firstWrite: this.#claims && free.length > 0 ? { asking, scopes } : null }
    this.#settle(asking, scopes)
    return { refused: claimDecision(held, oldCopyText(room.store, room.now())), firstWrite: null }
  }

  /**
   * What was found stands until somebody commits: a claim, a beat, an end. Not for long, because whether a name is a
   * file or a folder is the disk's to say.
   */
  #known(room: Coordination): Set<string> {
    if (this.#turn !== undefined) return this.#turn
    // Calls that arrive together are judged as of one moment.
    queueMicrotask(() => {
      this.#turn = undefined
    })
    const mark = room.store.mark()
    const nowMs = this.#options.clock.monoMs()
    if (this.#clear?.mark !== mark || nowMs >= this.#clear.untilMs)
      this.#clear = { mark, untilMs: nowMs + CLEAR_PLACES_MS, places: new Set() }
    this.#turn = this.#clear.places
    return this.#turn
  }

  /** Whoever is nobody in particular claims nothing, and makes no store where there is none. */
  #opened(asking: CallOrigin): Coordination | undefined {
    if (this.#room !== undefined) return this.#room
    this.#room = isSomebody(asking) ? openCoordination(this.#roomOptions) : openCoordinationToRead(this.#roomOptions)
    if (this.#room === undefined) this.#unclaimed()
    // In a fleet the copy that calls are answered from follows the log behind them. What fails is tried again.
    if (isSomebody(asking)) void this.#room?.store.link(this.#over.signal)
    return this.#room
  }

  /** Until what runs now is done. A call that comes after somebody has claimed is read after it, and looks again. */
  #unclaimed(): void {
    this.#isUnclaimed = true
    queueMicrotask(() => {
      this.#isUnclaimed = false
    })
  }

  /** On record behind the answer: what is decided stands by what was read. */
  #settle(asking: CallOrigin, scopes: readonly WriteScope[]): void {
    if (!isSomebody(asking)) return
    this.#last = this.#last.then(async () => {
      try {
        const room = this.#opened(asking)
        if (room === undefined) return
        const actor = await actAs(room, asking, caller(room, asking))
        await settleWrite(room, actor, scopes, { claims: this.#claims })
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        this.#failed(error)
      }
    })
  }

  /** The documented fail mode: open, and said once. The next write opens the store anew. */
  #failed(error: HeimdallError): void {
    if (!this.#hasFailed) this.#options.note(`claims are not checked: ${error.message}`)
    this.#hasFailed = true
    this.#room?.store.close()
    this.#room = undefined
    this.#clear = undefined
    this.#turn = undefined
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#last
    this.#room?.store.close()
    this.#room = undefined
  }
}

const isRevoked = ({ refused }: Caller): boolean => refused?.error.code === 'AGENT_REVOKED'

function revokedDecision({ refused }: Caller): Decision {
  return {
    action: 'BLOCK',
    rule_id: null,
    severity: 'warn',
    reason_code: 'AGENT_REVOKED',
    summary: refused?.error.message ?? 'this agent is revoked',
    enforced: true,
  }
}

/** Of what lies outside of the project. */
const NOBODY: Pick<WriteStanding, 'held' | 'free'> = { held: [], free: [] }

const isSomebody = ({ place, env }: CallOrigin): boolean =>
  place?.host !== undefined || place?.session !== undefined || (env['HEIMDALL_SECRET'] ?? '') !== ''

function claimDecision(held: readonly Conflict[], old: string | undefined): Decision {
  const [first] = held
  return {
    action: 'REJECT_WITH_HINT',
    rule_id: null,
    severity: 'warn',
    reason_code: 'CLAIM_HELD',
    summary: `${first?.agentId ?? 'another agent'} holds what this call would write`,
    enforced: true,
    hint: {
      hint_text: refusalText(held, old),
      suggested_args: null,
      retry_advice: 'the same call passes once the claim is released',
      hint_kind: 'SAFETY',
    },
  }
}
