// Claims of other machines: files that arrived by git, taken in as `remote`, believed only as far as they can be checked.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { BRINGER_DAYS_MAX, LEASE_MINUTES_MAX, REMOTE_FILE_BYTES_MAX, SCOPES_PER_CLAIM_MAX } from '../../limits.ts'
import { NO_DISK, parseScopes, type Scope } from '../../scopes/scope.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { type Bringer, fileBringers, type FindBringer } from './brought-by.ts'
import { caseSensitive, contextFor } from '../claims/check-scopes.ts'
import { checkLabel } from '../claims/claims.ts'
import type { Coordination } from '../coordination.ts'
import { type Change, changeAsOther } from '../change.ts'
import { readHaid } from '../who/haid.ts'
import { aliasOf } from '../who/registration.ts'
import {
  claimFileName,
  claimFileNames,
  isSameSignature,
  knownSignature,
  ledgerDir,
  ledgerSignature,
  signatureKey,
} from './ledger-files.ts'
import type { Moment } from '../moment.ts'
import { readReports } from './reported.ts'
import type { Agent, Claim, Reader } from '../store.ts'

export interface Taken {
  /** Files that could not be used, and why. */
  readonly skipped: readonly string[]
}

/** Takes in what has changed. Claims whose file is gone were released where they were made. */
export async function takeInRemote(room: Coordination, signature = ledgerSignature(room.project)): Promise<Taken> {
  const known = room.store.read((rows) => knownSignature(rows, room.project))
  if (isSameSignature(known, signature)) return { skipped: [] }
  const dir = ledgerDir(room.project)
  const skipped: string[] = []
  const unproven: string[] = []
  let find: FindBringer | undefined
  const files = claimFileNames(dir).flatMap((name): ForeignFile[] => {
    try {
      const bytes = readBytes(join(dir, 'claims', name))
      const file = readClaimFile(room, bytes, name)
      const isOwn = room.store.read((rows) => rows.agent(file.haid)?.origin) === 'local'
      // What is as it was has been judged, and what is this old holds nothing, whoever wrote it.
      const isOld = file.heartbeatMs < room.clock.wallMs() - BRINGER_DAYS_MAX * DAY_MS
      if (isOwn || isOld || known[`claims/${name}`] === signature[`claims/${name}`]) return [{ ...file, bringer: null }]
      find ??= fileBringers(room.project, join(dir, 'claims'))
      const bringer = find(name, bytes)
      if (bringer !== undefined) return [{ ...file, bringer }]
      unproven.push(`claims/${name}`)
      skipped.push(`${name} is in no commit, so it did not arrive by git and holds nothing`)
      return []
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      skipped.push(`${name}: ${error.message}`)
      return []
    }
  })
  const reports = readReports(room, known, signature)
  await changeAsOther(room, { kind: 'system' }, (change) => {
    const isForeign = (haid: string): boolean => change.rows.agent(haid)?.origin !== 'local'
    const present = files.filter(({ haid }) => isForeign(haid))
    for (const file of present) takeInClaims(room, change, file)
    const held = new Set(present.map(({ haid }) => haid))
    for (const claim of change.rows.claims({ state: 'active' }))
      if (claim.origin === 'remote' && !held.has(claim.holder)) endRemote(change, claim)
    for (const event of reports.events) change.rows.addEvent({ ...event, wallMs: change.now.wallMs })
    // What may be committed later, as it is, has to be looked at again then.
    const judged = Object.entries(signature).filter(([name]) => !unproven.includes(name))
    change.rows.putLocalSetting(signatureKey(room.project), JSON.stringify(Object.fromEntries(judged)))
  })
  return { skipped: [...skipped, ...reports.skipped] }
}

const DAY_MS = 86_400_000

interface ForeignFile {
  readonly haid: string
  /** The commit that the file came with; null when it is as it was, or old. */
  readonly bringer: Bringer | null
  readonly heartbeatMs: number
  readonly claims: readonly {
    readonly scopes: readonly Scope[]
    readonly task: string | null
    readonly ttlMinutes: number
    readonly createdMs: number
  }[]
}

function readClaimFile(room: Coordination, bytes: Buffer, name: string): Omit<ForeignFile, 'bringer'> {
  const record = asRecord(parseJson(bytes.toString('utf8'), name), name)
  const haid = asText(record['haid'], name)
  if (readHaid(haid) === undefined || claimFileName(haid) !== name) throw bad(name, 'its name and its HAID differ')
  const ttl = asMinutes(record['ttl_minutes'] ?? 90, name)
  const claimedMs = asTime(record['claimed_at'], name)
  const heartbeatMs = record['heartbeat'] === undefined ? claimedMs : asTime(record['heartbeat'], name)
  const parts = Array.isArray(record['claims'])
    ? record['claims'].map((part: unknown) => asRecord(part, name))
    : [
        {
          surfaces: record['claimed_surfaces'],
          task: record['task_ref'],
          ttl_minutes: ttl,
          claimed_at: record['claimed_at'],
        },
      ]
  if (parts.length > SCOPES_PER_CLAIM_MAX) throw bad(name, `${parts.length} claims`)
  return {
    haid,
    heartbeatMs,
    claims: parts.map((part) => ({
      scopes: foreignScopes(room, part['surfaces'], name),
      task: part['task'] === null || part['task'] === undefined ? null : label(part['task'], name),
      ttlMinutes: asMinutes(part['ttl_minutes'] ?? ttl, name),
      createdMs: Math.min(asTime(part['claimed_at'] ?? record['claimed_at'], name), room.clock.wallMs()),
    })),
  }
}

/** Scopes of another machine are read without this disk: what exists here says nothing about what exists there. */
function foreignScopes(room: Coordination, surfaces: unknown, name: string): Scope[] {
  if (!Array.isArray(surfaces) || !surfaces.every((surface) => typeof surface === 'string'))
    throw bad(name, 'its surfaces are not a list of texts')
  const context = { ...contextFor(room, room.project.root), caseSensitive: caseSensitive(room), lookup: NO_DISK }
  return parseScopes(surfaces, context)
}

function takeInClaims(room: Coordination, change: Change, file: ForeignFile): void {
  const { rows, now } = change
  const agent = takeInAgent(rows, file, now)
  rows.putAgent(agent)
  rows.putBeat(agent.haid, agent.beat)
  if (agent.seen !== null) rows.putSighting(agent.haid, agent.seen)
  const known = rows.claims({ holder: file.haid, state: 'active' })
  const isSame = (claim: Claim, wanted: ForeignFile['claims'][number]): boolean =>
    canonicalText(claim.scopes) === canonicalText(wanted.scopes) && claim.task === wanted.task
  for (const claim of known) if (!file.claims.some((wanted) => isSame(claim, wanted))) endRemote(change, claim)
  for (const wanted of file.claims) {
    if (known.some((claim) => isSame(claim, wanted))) continue
    const claim = rows.addClaim({
      claimId: `res_${room.newId()}`,
      holder: file.haid,
      task: wanted.task,
      intent: null,
      worktree: '',
      ttlMinutes: wanted.ttlMinutes,
      state: 'active',
      createdMs: wanted.createdMs,
      granted: { ...agent.beat.at, wallMs: now.wallMs },
      endedMs: null,
      endedReason: null,
      displacedBy: null,
      tree: null,
      toldMs: null,
      origin: 'remote',
      scopes: wanted.scopes,
    })
    change.record({
      type: 'REMOTE_CLAIM',
      actor: agent.agentId,
      claimId: claim.claimId,
      task: claim.task,
      payload: {
        epoch: claim.epoch,
        scopes: claim.scopes.map(({ canonical }) => canonical),
        reported_by: file.bringer,
      },
    })
  }
}

/** A heartbeat from the future counts as now; one that differs from the last look is a beat, whatever time it names. */
function takeInAgent(rows: Reader, file: ForeignFile, now: Moment): Agent {
  const wallMs = Math.min(file.heartbeatMs, now.wallMs)
  const at: Moment = { boot: `remote ${file.haid}`, monoMs: 0, wallMs }
  const known = rows.agent(file.haid)
  if (known !== undefined) {
    // For a remote agent the start of the session is the heartbeat as written: the one thing that is compared.
    if (known.runtime.startedMs === file.heartbeatMs) return known
    const count = known.beat.count + 1
    return {
      ...known,
      beat: { count, at },
      seen: { boot: now.boot, count, monoMs: now.monoMs, ageMs: 0 },
      runtime: { ...known.runtime, startedMs: file.heartbeatMs },
    }
  }
  return {
    haid: file.haid,
    agentId: aliasOf(rows, file.haid),
    displayName: file.haid,
    role: readHaid(file.haid)?.role ?? 'orchestrator',
    tool: 'unknown',
    toolVersion: 'unknown',
    origin: 'remote',
    version: 1,
    createdMs: now.wallMs,
    revokedMs: null,
    beat: { count: 1, at },
    seen: { boot: now.boot, count: 1, monoMs: now.monoMs, ageMs: now.wallMs - wallMs },
    runtime: {
      epoch: 0,
      secretHash: null,
      client: null,
      process: null,
      tree: null,
      startedMs: file.heartbeatMs,
      endedMs: null,
    },
  }
}

function endRemote(change: Change, claim: Claim): void {
  change.rows.putClaim({ ...claim, state: 'released', endedMs: change.now.wallMs, endedReason: 'released elsewhere' })
  change.record({ type: 'REMOTE_RELEASE', claimId: claim.claimId, task: claim.task, payload: { epoch: claim.epoch } })
}

function readBytes(path: string): Buffer {
  const bytes = readFileIfThere(path) ?? Buffer.alloc(0)
  if (bytes.byteLength > REMOTE_FILE_BYTES_MAX)
    throw bad(path, `${bytes.byteLength} bytes, limit ${REMOTE_FILE_BYTES_MAX}`)
  return bytes
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw bad(name, 'it is not JSON')
    throw error
  }
}

function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw bad(name, 'it is not an object')
}

function asText(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw bad(name, 'a text is missing')
}

function label(value: unknown, name: string): string {
  const text = asText(value, name)
  checkLabel('task', text)
  return text
}

function asMinutes(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return Math.min(value, LEASE_MINUTES_MAX)
  throw bad(name, 'its time to live is not a number of minutes')
}

function asTime(value: unknown, name: string): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw bad(name, 'a time cannot be read')
}

function canonicalText(scopes: readonly Scope[]): string {
  return scopes
    .map(({ canonical }) => canonical)
    .sort()
    .join('\n')
}

function bad(name: string, why: string): HeimdallError {
  return new HeimdallError('STORE_CORRUPT', `${name} is no claim file: ${why}`)
}
