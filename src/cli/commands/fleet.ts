// heimdall fleet: one coordination log for a repository on several machines, in PostgreSQL. Code that connects to the database is imported by the commands that do.
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { membershipIn } from '../../coordination/membership.ts'
import { roomOptions } from '../../coordination/room-options.ts'
import { placeIn } from '../../coordination/sqlite/places.ts'
import { storePath } from '../../coordination/store-path.ts'
import { HeimdallError } from '../../errors.ts'
import { fleetDoor } from '../../fleet/door.ts'
import type { FleetCheck } from '../../fleet/fleet-checks.ts'
import { readFleetFile } from '../../fleet/fleet-file.ts'
import { requireFleetFile, requireMember } from '../../fleet/member-here.ts'
import { escapeControls, printable } from '../../ids.ts'
import { FLEET_BRIEF_BYTES_MAX } from '../../limits.ts'
import { refuseAgent, requirePerson } from '../../person.ts'
import { replaceFile } from '../../storage/atomic-file.ts'
import { type Command, command, type Context } from '../command.ts'
import { withStore } from '../coordination-store.ts'
import { outputPath } from '../output-file.ts'
import { checkLines } from '../render/check-lines.ts'
import { plural } from '../render/fleet-text.ts'
import { renderTable } from '../render/style.ts'
import { untilSignal } from '../until-signal.ts'
import { VERSION } from '../version.ts'
import { create, databaseUrl, invite, machine, pooler, remove, urlFile } from './fleet-owner.ts'

/** An invalid entry stops every copy, so it is reported with the checks; other failures show up in the checks themselves. */
async function invalidEntry(context: Context): Promise<FleetCheck[]> {
  try {
    await withStore(context, (db) => db.store.catchUp())
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (error.code === 'STORE_CORRUPT')
      return [{ check: 'log', state: 'fail', found: error.message, fix: error.hint ?? null }]
  }
  return []
}

const secondsAgo = (ms: number): string => `${Math.round(ms / 1_000)} s ago`
const keptIn = (file: string | undefined): string[] => (file === undefined ? [] : [`The previous store is in ${file}`])

export const commands: readonly Command[] = [
  create,
  command({
    names: ['heimdall fleet join'],
    changes: true,
    summary: 'Join a fleet with this machine',
    about:
      'Reads the URL of the join line from standard input, or asks for it; stores it in a file that only its owner can ' +
      'read, and builds this machine’s copy of the state. A member that joins with a new line keeps its name and copy.',
    flags: {
      'url-file': urlFile,
      pooler,
      machine,
      'set-aside': {
        help: 'replace a store of this machine alone, and keep it in a file next to it',
      },
      rebuild: { help: 'build the copy of a member again from the database' },
      unrelated: { help: 'join although this repository is not a clone of the fleet’s' },
    },
    examples: {
      'heimdall fleet join < join-url': 'joins with the URL that fleet create printed',
      'heimdall fleet join --rebuild': 'builds this member’s copy again, and keeps the previous one',
    },
    output:
      'project (id of the fleet), machine (name of this machine in it), seq (last entry of the copy), ' +
      'set_aside (file with the previous store, or null)',
    run: async (context, { flags }) => {
      refuseAgent('joining a fleet')
      const [{ joinFleet }, { refuseUnrelated }] = await Promise.all([
        import('../../fleet/membership.ts'),
        import('../../spine/worktrees/first-commits.ts'),
      ])
      const options = await roomOptions(context)
      const rebuilds = flags.rebuild === true
      const before = fleetDoor.isJoined(options) || rebuilds ? readFleetFile(options) : undefined
      const isPooled = flags.pooler ?? before?.isPooled ?? false
      // A copy is built again with the known URL, unless another one is given.
      const address =
        rebuilds && before !== undefined && flags['url-file'] === undefined
          ? { ...before, isPooled }
          : { url: await databaseUrl(context, flags['url-file']), isPooled }
      const named = flags.machine ?? ('machine' in address ? address.machine : undefined)
      const { project, machine, seq, asideAs, refusedSnapshots, renamedFrom } = await joinFleet(
        { ...address, options, machine: named, version: VERSION },
        {
          setsAside: flags['set-aside'] === true,
          rebuilds,
          ...(flags.unrelated === true
            ? {}
            : { checkRepository: (roots) => refuseUnrelated({ cwd: options.project.root, env: context.env }, roots) }),
        },
      )
      if (renamedFrom !== undefined)
        context.note(`${renamedFrom} is a machine whose keys are not here, so this one is called ${machine}`)
      for (const at of refusedSnapshots)
        context.note(`warning: the snapshot at entry ${at} is invalid; the copy was built without it`)
      return {
        data: { project, machine, seq, set_aside: asideAs ?? null },
        text: [`This machine is ${machine} in fleet ${project}, at entry ${seq}.`, ...keptIn(asideAs)].join('\n'),
      }
    },
  }),
  command({
    names: ['heimdall fleet leave'],
    changes: true,
    summary: 'Leave the fleet, and keep a store of this machine’s own',
    about:
      'The copy is brought up to date and becomes this machine’s own store. Claims of this machine’s agents stay in ' +
      'the fleet until another agent takes them over.',
    flags: { offline: { help: 'leave with the copy as it is, without the database' } },
    examples: { 'heimdall fleet leave': 'makes this machine independent of the fleet' },
    output: 'seq (last entry of the fleet in the store), claims (of this machine’s agents that stay in the fleet)',
    run: async (context, { flags }) => {
      refuseAgent('leaving a fleet')
      const { leaveFleet } = await import('../../fleet/membership.ts')
      const options = await roomOptions(context)
      // A member whose fleet file is lost may still leave.
      const isJoined = fleetDoor.isJoined(options)
      if (!isJoined) requireMember(options)
      const file = flags.offline === true || !isJoined ? undefined : readFleetFile(options)
      const { seq, claims } = await leaveFleet(options, file)
      const stay = `${plural(claims, 'claim')} of its agents ${claims === 1 ? 'stays' : 'stay'} in the fleet until taken over there.`
      return {
        data: { seq, claims },
        text: [`This machine has left the fleet at entry ${seq}.`, ...(claims === 0 ? [] : [stay])].join('\n'),
      }
    },
  }),
  invite,
  command({
    names: ['heimdall fleet expel'],
    changes: true,
    summary: 'Remove a machine that will not come back from the fleet',
    about:
      'The machine can write nothing to the fleet any more. Its agents are ended and their claims released, except those ' +
      'of agents that were active a moment ago, which can be taken over once they are stale. The machine can join again ' +
      'with the join line until heimdall fleet invite replaces that.',
    args: [{ name: 'machine', help: 'name of the machine in heimdall fleet status' }],
    flags: { force: { help: 'also release claims of its active agents; needs a human' } },
    examples: {
      'heimdall fleet expel runner-7': 'removes runner-7 from the members',
      'heimdall fleet expel runner-7 --force': 'releases all claims of its agents at once',
    },
    output: 'machine, heard_ms_ago, freed (number of released claims), active (agents that keep their claims)',
    run: async (context, { args, flags }) => {
      const isForced = flags.force === true
      refuseAgent('expelling a machine from a fleet')
      const name = isForced ? requirePerson('releasing claims of active agents').name : userInfo().username
      const [{ endAgentsOn }, { signedElsewhere }, { expelMember, onEngine }] = await Promise.all([
        import('../../coordination/who/expelled.ts'),
        import('../../fleet/fleet-status.ts'),
        import('../../fleet/membership.ts'),
      ])
      const file = requireFleetFile(await roomOptions(context))
      const { machine } = args
      if (machine === file.machine)
        throw new HeimdallError('INVALID_ARGS', `${printable(machine)} is this machine`, {
          hint: 'heimdall fleet leave',
        })
      const { heardMs, freed, active } = await withStore(context, async (db) => {
        // Read first: the last signs of its agents are removed with the member.
        await db.store.catchUp()
        const elsewhere = await onEngine(file, (ask) => ask((sql) => signedElsewhere(sql, file.project, machine)))
        const heardMs = await expelMember(file, machine)
        return { heardMs, ...(await endAgentsOn(db, { machine, elsewhere, by: name, isForced })) }
      })
      return {
        data: { machine, heard_ms_ago: Math.round(heardMs), freed: freed.length, active },
        text: [
          `${escapeControls(machine)} is no longer a member; it was last heard ${secondsAgo(heardMs)}.`,
          freed.length === 0
            ? 'No claims were released.'
            : `${plural(freed.length, 'claim')} of its agents ${freed.length === 1 ? 'was' : 'were'} released.`,
          ...(active.length === 0
            ? []
            : [
                `Agents active a moment ago keep their claims: ${escapeControls(active.join(', '))}. heimdall claim takeover takes`,
                'them once the agents are stale; --force releases them at once.',
              ]),
          'The machine can join again with the join line, until heimdall fleet invite replaces it.',
        ].join('\n'),
      }
    },
  }),
  remove,
  command({
    names: ['heimdall fleet status'],
    summary: 'Show the database, this machine’s copy and the members',
    examples: { 'heimdall fleet status': 'shows durability, how far the copy is behind, and the members' },
    output:
      'project, name (null if unreachable), machine, engine (host and database), reachable, error, durability, seq (last ' +
      'entry of the copy), head (last entry of the log), heard_ms_ago, pending (id of an entry of unknown outcome), lost ' +
      '(entries that the database has lost: seq, id, by), members (machine, version, format, rules, heard_ms_ago, is_gone)',
    run: async (context) => {
      const { memberStatus } = await import('../../fleet/member-status.ts')
      const data = await memberStatus(await roomOptions(context))
      const { project, machine, seq, heard_ms_ago: heard, pending } = data
      const behind = data.head === null ? undefined : Math.max(0, data.head - seq)
      const lag = behind === undefined ? 'lag unknown' : `${behind === 1 ? '1 entry' : `${behind} entries`} behind`
      const lines = [
        `fleet       ${data.name === null ? project : `${printable(data.name)} (${project})`}, this machine is ${machine}`,
        `database    ${data.engine}${data.reachable ? '' : `: ${data.error}`}`,
        `durability  ${data.durability ?? 'unknown'}`,
        `copy        at entry ${seq}, ${lag}, heard ${heard === null ? 'never' : secondsAgo(heard)}`,
        ...(pending === null ? [] : [`pending     entry ${pending}: the next command settles its outcome`]),
        ...data.lost.map(
          ({ seq, id, by }) => `lost        entry ${seq} (${id}) by ${by ?? 'unknown'} is missing in the database`,
        ),
      ].map(escapeControls)
      const rows = data.members.map((one) => [
        one.machine,
        one.version,
        String(one.format),
        String(one.rules),
        one.is_gone ? 'left' : secondsAgo(one.heard_ms_ago),
      ])
      const table = renderTable(context.style, ['MACHINE', 'VERSION', 'FORMAT', 'RULES', 'HEARD'], rows)
      return { data, text: [...lines, table].join('\n'), exit: data.lost.length > 0 ? 8 : 0 }
    },
  }),
  command({
    names: ['heimdall fleet doctor'],
    summary: 'Check the fleet, and say how to fix what is wrong',
    examples: { 'heimdall fleet doctor': 'checks connection, role, durability, versions, clocks and copy' },
    output: 'checks (check, state, found, fix)',
    run: async (context) => {
      const { fleetChecks } = await import('../../fleet/fleet-checks.ts')
      const options = await roomOptions(context)
      const file = requireFleetFile(options)
      const broken = await invalidEntry(context)
      const { at } = placeIn(storePath(options.project))
      const checks = [...(await fleetChecks(file, at, () => context.clock.wallMs())), ...broken]
      return {
        data: { checks },
        text: checkLines(context.style, checks, true),
        exit: checks.some(({ state }) => state === 'fail') ? 1 : 0,
      }
    },
  }),
  command({
    names: ['heimdall fleet export'],
    summary: 'Write the whole coordination state of this repository to a file',
    about: 'Without what only this machine knows. A member is brought up to date first. Needs no fleet.',
    args: [{ name: 'file', help: 'file to write; must not exist' }],
    examples: { 'heimdall fleet export state.jsonl': 'writes one row per line' },
    output: 'file, seq (last entry in it), bytes',
    run: async (context, { args }) => {
      const [{ allOf }, { wholeState }] = await Promise.all([
        import('../../coordination/annex.ts'),
        import('../../coordination/sqlite/whole-state.ts'),
      ])
      const file = outputPath(context.resolve(args.file))
      if (existsSync(file))
        throw new HeimdallError('FILE_EXISTS', `${file} already exists`, { hint: 'name a new file' })
      const { path, briefs } = await withStore(context, async ({ store, project }) => {
        if (membershipIn(store) !== undefined) await store.catchUp()
        return { path: storePath(project), briefs: await allOf(store.annex, FLEET_BRIEF_BYTES_MAX) }
      })
      const { at, text } = wholeState(path, briefs)
      replaceFile(file, text, { mode: 0o600 })
      return {
        data: { file, seq: at.seq, bytes: Buffer.byteLength(text) },
        text: `Everything up to entry ${at.seq} is in ${file}`,
      }
    },
  }),
  command({
    names: ['heimdall fleet import'],
    changes: true,
    summary: 'Replace this repository’s coordination state with an exported file',
    about: 'Not on a member of a fleet; heimdall fleet create then moves it to a database. The previous store is kept.',
    args: [{ name: 'file', help: 'file written by heimdall fleet export' }],
    examples: { 'heimdall fleet import state.jsonl': 'makes the store from the file' },
    output: 'seq (last entry in it), set_aside (file with the previous store, or null)',
    run: async (context, { args }) => {
      refuseAgent('replacing the store of claims')
      const { importState } = await import('../../fleet/import-state.ts')
      const { seq, asideAs } = importState(await roomOptions(context), context.resolve(args.file))
      return {
        data: { seq, set_aside: asideAs ?? null },
        text: [`The store has everything up to entry ${seq}.`, ...keptIn(asideAs)].join('\n'),
      }
    },
  }),
  command({
    names: ['heimdall fleet link'],
    summary: 'Keep this machine’s copy up to date until Ctrl-C',
    about: 'Sessions and the hub do this themselves; use it on a machine that only runs commands.',
    examples: { 'heimdall fleet link': 'follows the log' },
    output: 'seq (last entry of the copy)',
    run: async (context) => {
      requireMember(await roomOptions(context))
      const stop = new AbortController()
      void untilSignal().told.then(() => stop.abort())
      let last = ''
      const seq = await withStore(context, async (db) => {
        const path = storePath(db.project)
        await db.store.catchUp()
        context.note(`following the log from entry ${placeIn(path).at.seq}; Ctrl-C stops`)
        await db.store.link(stop.signal, ({ message }) => {
          // Once per reason: it retries every two seconds.
          if (message !== last) context.note(`warning: ${message}`)
          last = message
        })
        return placeIn(path).at.seq
      })
      return { data: { seq }, text: `This machine’s copy is at entry ${seq}.` }
    },
  }),
]
