// heimdall claim, heimdall-claim: claim, check and release paths. A check runs before every edit, so this file imports
// only what the check of a free path needs; the rest is in claim-acts.ts.
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import { hasNews, ledgerSignature } from '../../coordination/ledger/ledger-files.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { roomOptions, type Surroundings } from '../../coordination/room-options.ts'
import { openView } from '../../coordination/view.ts'
import { hasFleets } from '../../fleet/fleets-folder.ts'
import { FLEET_CHECK_OLD_MS, LEDGER_LEASE_MINUTES_DEFAULT } from '../../limits.ts'
import { agentFlag } from '../agent-flag.ts'
import { type Answer, type Command, command, type FlagSpec } from '../command.ts'

const acts = () => import('./claim-acts.ts')

const claimFlags = {
  agent: agentFlag,
  task: { value: 'TASK', help: 'task that the claim is for' },
  intent: { value: 'TEXT', help: 'what you are going to do; shown to agents that are refused' },
  ttl: {
    type: 'integer',
    value: 'MIN',
    help: 'lease in minutes, 1 to 1440; your activity renews it',
    default: LEDGER_LEASE_MINUTES_DEFAULT,
  },
} as const satisfies Record<string, FlagSpec>
const claimFlag = { value: 'ID', help: 'one claim by its id' } as const satisfies FlagSpec
const epochFlag = {
  type: 'integer',
  value: 'N',
  help: 'refuse unless the claim has this epoch',
} as const satisfies FlagSpec
const haidFlag = {
  value: 'HAID',
  help: 'HAID or agent id; default your own',
} as const satisfies FlagSpec

const scopeArg = { name: 'scope', help: 'path, folder, glob, or file#symbol', variadic: true } as const
const anyScopes = { ...scopeArg, help: 'paths or globs, or the id of one claim', optional: true } as const

const CLAIM =
  'haid, human, claimed_surfaces (scopes as typed), task_ref, claimed_at, ttl_minutes, heartbeat (last activity of the holder), claim_id, epoch (fencing token), agent_id, liveness (active, stale or evicted), lease (live or lapsed), expires_at, origin (local or remote)'
const CONFLICTS =
  'conflicts (claims in the way: holder, liveness, lease, expiry, task, overlapping scopes and a path in both)'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall claim', 'heimdall-claim claim'],
    summary: 'Claim paths: all of them or none',
    about:
      'A claim for the same task replaces your earlier one, which is released; a claim for another task is added. A lapsed claim of a silent owner is archived. A path that has the name of a subcommand is written ./check.',
    args: [scopeArg],
    flags: claimFlags,
    examples: {
      'heimdall claim "src/a/**" docs/a.md --task T-9': 'claims both or neither; exit 5 if another agent holds one',
      'heimdall-claim claim "src/a/**" --task T-9 --ttl 30': 'the same by its seed name; exit 3 on a collision',
    },
    output: `granted, claim, renewed (the same scopes were held already), released (earlier claims that it replaces), displaced, dirty_paths, ${CONFLICTS}`,
    run: async (context, { flags, args }) =>
      (await acts()).take(context, args.scope, { ...flags, archivesLapsed: true, replacesTask: true }),
  }),
  command({
    names: ['heimdall claim check', 'heimdall-claim check'],
    summary: 'Check whether paths are free to claim or edit; changes nothing',
    args: [scopeArg],
    flags: { agent: agentFlag },
    examples: { 'heimdall claim check src/a/b.ts': 'prints clear, or who holds it (exit 5; 3 as heimdall-claim)' },
    output: `granted, ${CONFLICTS}`,
    run: async (context, { flags, args: { scope } }) => {
      if (await isClearForAll(context, scope)) return clear(scope)
      // A claim overlaps, perhaps the caller's own; or ledger files arrived by git that have to be read first.
      return (await acts()).check(context, scope, flags.agent, clear)
    },
  }),
  command({
    names: ['heimdall claim list', 'heimdall-claim list'],
    summary: 'List claims',
    flags: {
      task: { value: 'TASK', help: 'only for this task' },
      all: { help: 'also lapsed claims of silent owners' },
    },
    examples: { 'heimdall claim list': 'lists claims with holder, liveness, expiry and task' },
    output: `a list of claims: ${CLAIM}`,
    run: async (context, { flags }) => (await acts()).list(context, flags.task, flags.all === true),
  }),
  command({
    names: ['heimdall claim release', 'heimdall-claim release'],
    summary: 'Release claims; all of yours when none is named',
    args: [anyScopes],
    flags: {
      agent: agentFlag,
      haid: { value: 'HAID', help: 'the same as --agent' },
      claim: claimFlag,
      epoch: epochFlag,
    },
    examples: { 'heimdall claim release src/a': 'releases the claim on src/a' },
    output: 'haid, released (claim ids), surfaces (their scopes)',
    run: async (context, { flags, args }) => (await acts()).release(context, args.scope, flags),
  }),
  command({
    names: ['heimdall claim takeover'],
    summary: 'Claim paths of owners that went silent',
    about:
      'The earlier claim is archived as expired and its holder can no longer use it. From an active owner only a human at a terminal can take a claim, with --force and a reason, which are recorded.',
    args: [scopeArg],
    flags: {
      ...claimFlags,
      force: { help: 'take it from an active owner; needs a human' },
      reason: { value: 'TEXT', help: 'why, with --force' },
    },
    examples: { 'heimdall claim takeover src/a --task T-9': 'takes src/a over if its owner is stale or evicted' },
    output: `granted, claim, displaced (claims taken over), dirty_paths (uncommitted changes in them), ${CONFLICTS}`,
    run: async (context, { flags, args }) => (await acts()).takeOver(context, args.scope, flags),
  }),
  command({
    names: ['heimdall claim wait'],
    hidden: true,
    summary: 'Claim paths as soon as they are free; first come, first served',
    args: [scopeArg],
    flags: {
      ...claimFlags,
      timeout: { type: 'duration', value: 'TIME', help: 'give up after this long', default: 600_000 },
    },
    examples: { 'heimdall claim wait src/a --task T-9 --timeout 15m': 'queues for src/a for at most 15 minutes' },
    output: 'granted, claim',
    run: async (context, { flags, args }) => (await acts()).wait(context, args.scope, flags),
  }),
  command({
    names: ['heimdall claim renew'],
    hidden: true,
    summary: 'Renew claims; refused when the claim was taken over',
    args: [anyScopes],
    flags: {
      agent: agentFlag,
      claim: claimFlag,
      epoch: epochFlag,
      ttl: { type: 'integer', value: 'MIN', help: 'new length of the lease' },
    },
    examples: { 'heimdall claim renew --claim res_01 --epoch 7': 'renews it if it is still yours' },
    output: `a list of the renewed claims: ${CLAIM}`,
    run: async (context, { flags, args }) => (await acts()).renew(context, args.scope, flags),
  }),
  command({
    names: ['heimdall claim reap', 'heimdall-claim reap'],
    hidden: true,
    changes: true,
    summary: 'Archive lapsed claims of silent owners',
    examples: { 'heimdall claim reap': 'archives them and prints how many' },
    output: 'reaped (ids of the archived claims), active (how many are left)',
    run: async (context) => (await acts()).reap(context),
  }),
  command({
    names: ['heimdall claim history'],
    hidden: true,
    summary: 'List coordination events in order: claims, takeovers, incursions, handoffs, resumes',
    flags: {
      claim: { value: 'ID', help: 'only about this claim' },
      agent: { value: 'ID', help: 'only from or to this agent' },
      task: { value: 'TASK', help: 'only about this task' },
      type: {
        value: 'TYPE',
        help: 'only events of this type, such as INCURSION; may be given several times',
        multiple: true,
      },
      last: { type: 'integer', value: 'N', help: 'at most this many, the newest', default: 50 },
    },
    examples: { 'heimdall claim history --type INCURSION': 'lists the latest collisions' },
    output: 'a list of events in the envelope of the operative protocol, with seq',
    run: async (context, { flags }) => (await acts()).history(context, flags),
  }),
  command({
    names: ['heimdall-claim show'],
    summary: 'Show the claims of one holder',
    flags: { haid: haidFlag },
    examples: { 'heimdall-claim show --json': 'prints your own claim, or null' },
    output: `a list of claims of that holder: ${CLAIM}`,
    run: async (context, { flags }) => (await acts()).show(context, flags.haid),
  }),
  command({
    names: ['heimdall-claim heartbeat'],
    summary: 'Renew the claims of a holder',
    flags: { haid: haidFlag },
    examples: { 'heimdall-claim heartbeat': 'renews the leases of your claims' },
    output: `a list of the claims: ${CLAIM}`,
    run: async (context, { flags }) => (await acts()).heartbeat(context, flags.haid),
  }),
]

/** True when no claim overlaps: then it does not matter who asks. False also where only the full check can tell. */
async function isClearForAll(here: Surroundings, scopes: readonly string[]): Promise<boolean> {
  const options = await roomOptions(here)
  const signature = ledgerSignature(options.project)
  const view = openView(options)
  // A fleet member that lost its copy does not know what other machines hold.
  if (view === undefined) return Object.keys(signature).length === 0 && !hasFleets(here.env)
  try {
    if (hasNews(view, signature) || oldCopyText(view.store, view.now(), FLEET_CHECK_OLD_MS) !== undefined) return false
    return checkScopes(view, { scopes, cwd: here.cwd, asker: null }).conflicts.length === 0
  } finally {
    view.store.close()
  }
}

/** `asOf`: the age of the fleet copy that it was read from. */
function clear(scopes: readonly string[], asOf?: string): Answer {
  const data = { granted: true, conflicts: [] }
  return {
    data: asOf === undefined ? data : { ...data, as_of: asOf },
    text: `clear: ${scopes.join(' ')}`,
    seedJson: data,
  }
}
