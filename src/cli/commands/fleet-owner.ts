// heimdall fleet create, invite and remove: what the owner of the database does.
import { basename } from 'node:path'
import { roomOptions } from '../../coordination/room-options.ts'
import { HeimdallError } from '../../errors.ts'
import { writeFleetFile } from '../../fleet/fleet-file.ts'
import { memberFile } from '../../fleet/member-here.ts'
import type { ProjectFacts } from '../../fleet/project.ts'
import { printable } from '../../ids.ts'
import { FLEET_URL_BYTES_MAX } from '../../limits.ts'
import { refuseAgent } from '../../person.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { command, type Context, type FlagSpec } from '../command.ts'
import { askHidden } from '../hidden-prompt.ts'
import { plural } from '../render/fleet-text.ts'
import { readAll, readTypedLine } from '../stdin.ts'
import { VERSION } from '../version.ts'
import { usageError } from '../usage-error.ts'

export const urlFile = {
  value: 'FILE',
  help: 'read the URL from this file instead of standard input',
} as const satisfies FlagSpec
export const pooler = {
  help: 'connect through a pooler such as PgBouncer: no prepared statements; polls instead of LISTEN',
} as const satisfies FlagSpec
export const machine = {
  value: 'NAME',
  help: 'name of this machine in the fleet; default: its host name',
} as const satisfies FlagSpec
const project = {
  value: 'NAME',
  help: 'name or id of the fleet; default: this repository’s, or the only one of the database',
} as const satisfies FlagSpec
const OWNER_URL =
  'Reads the database owner’s URL from standard input, or asks for it; never from the command line, which every process can read.'

/** The URL of the database, from a file, standard input or a hidden prompt. */
export async function databaseUrl(context: Context, file: string | undefined): Promise<string> {
  const text = (await urlText(context, file)).trim()
  if (text === '' || text.length > FLEET_URL_BYTES_MAX || /\s/.test(text))
    throw usageError(
      'no database URL given',
      `${context.calledAs} < FILE, or --url-file FILE: one line, postgres://role:password@host:5432/database`,
    )
  return text
}

async function urlText(context: Context, file: string | undefined): Promise<string> {
  const { stdin, stderr } = context
  if (file === undefined)
    return stdin.isTTY
      ? askHidden(stdin, stderr, 'Database URL: ')
      : (await readAll(stdin, FLEET_URL_BYTES_MAX)).toString('utf8')
  const path = context.resolve(file)
  const bytes = readFileIfThere(path)
  if (bytes === undefined) throw usageError(`no file ${path}`)
  return bytes.toString('utf8')
}

const joinLine = (url: string, isPooled: boolean | undefined): string =>
  `  printf '%s' '${url}' | heimdall fleet join${isPooled === true ? ' --pooler' : ''}`

async function confirmRemoval(context: Context, { project, name, seq, members }: ProjectFacts): Promise<void> {
  const { stdin, stderr } = context
  const what = `fleet ${printable(name)} (${project}) is at entry ${seq} and has ${plural(members, 'member')}`
  if (!stdin.isTTY || !stderr.isTTY)
    throw usageError(
      `${what}; removing it without a terminal requires --yes`,
      `${context.calledAs} --project ${project} --yes`,
    )
  stderr.write(`${what}. Type its name to remove it: `)
  if ((await readTypedLine(stdin)) !== name) throw new HeimdallError('INTERRUPTED', 'nothing was removed')
}

export const create = command({
  names: ['heimdall fleet create'],
  changes: true,
  summary: 'Move this repository’s coordination to PostgreSQL, for several machines',
  about:
    `${OWNER_URL} The owner’s role must be allowed to create a schema and roles. Creates tables, functions and a ` +
    'role for members that can only call those functions, copies this machine’s state, and prints the line that ' +
    'joins another machine.',
  flags: {
    'url-file': urlFile,
    pooler,
    machine,
    name: { value: 'NAME', help: 'name of the fleet; default: name of the folder' },
  },
  examples: {
    'heimdall fleet create < owner-url': 'creates the fleet, and prints the join line',
    'heimdall fleet create --pooler --url-file ~/owner-url': 'creates it behind PgBouncer',
  },
  output:
    'project (id of the fleet), machine (name of this machine in it), seq (entry after which the log begins), ' +
    'join (URL for members, with a password)',
  run: async (context, { flags }) => {
    refuseAgent('creating a fleet')
    const [{ createFleet }, { firstCommits }] = await Promise.all([
      import('../../fleet/creation.ts'),
      import('../../spine/worktrees/first-commits.ts'),
    ])
    const options = await roomOptions(context)
    const { project, machine, seq, joinUrl } = await createFleet({
      options,
      url: await databaseUrl(context, flags['url-file']),
      isPooled: flags.pooler === true,
      machine: flags.machine,
      roots: await firstCommits({ cwd: options.project.root, env: context.env }),
      name: flags.name ?? basename(options.project.root),
      version: VERSION,
    })
    return {
      data: { project, machine, seq, join: joinUrl },
      text: [
        `Fleet ${project} has everything up to entry ${seq}; this machine is ${machine}.`,
        'Other machines join with this line, which contains a password:',
        '',
        joinLine(joinUrl, flags.pooler),
      ].join('\n'),
    }
  },
})

export const invite = command({
  names: ['heimdall fleet invite'],
  changes: true,
  summary: 'Print a new join line, and revoke the previous one',
  about:
    `${OWNER_URL} Creates a new member role with a new password and drops the previous one, with its connections. ` +
    'Each member runs the new line once and keeps its name and copy; this machine has it already.',
  flags: { 'url-file': urlFile, project, pooler },
  examples: {
    'heimdall fleet invite < owner-url': 'prints a new join line; the previous one stops working',
    'heimdall fleet invite --project shop --url-file ~/owner-url': 'works from any folder',
  },
  output: 'project (id of the fleet), name, join (URL for members, with a password)',
  run: async (context, { flags }) => {
    refuseAgent('inviting machines to a fleet')
    const [{ asOwner }, { giveNewRole, meantProject, memberUrl, projectsIn }] = await Promise.all([
      import('../../fleet/owner.ts'),
      import('../../fleet/project.ts'),
    ])
    const options = await roomOptions(context)
    const own = memberFile(options)
    const url = await databaseUrl(context, flags['url-file'])
    const { project, name, role } = await asOwner(url, async (ask) => {
      const meant = meantProject(await projectsIn(ask), flags.project, own?.project)
      return { ...meant, role: await giveNewRole(ask, meant.project) }
    })
    const isOwn = own?.project === project
    // Members may connect by another address than the owner.
    if (isOwn) writeFleetFile(options, { ...own, url: memberUrl(own.url, role) })
    const join = memberUrl(url, role)
    return {
      data: { project, name, join },
      text: [
        'The previous join line no longer works. This one contains a password. It is for new machines, and',
        `members${isOwn ? ' other than this one' : ''} run it once and keep their name and copy:`,
        '',
        joinLine(join, flags.pooler),
      ].join('\n'),
    }
  },
})

export const remove = command({
  names: ['heimdall fleet remove'],
  changes: true,
  summary: 'Remove a fleet with its log and role from its database',
  about:
    `${OWNER_URL} Asks for the name of the fleet before it removes anything. A member that runs this keeps ` +
    'everything as its own store; other members keep what they have. With the last fleet of a database its tables ' +
    'and functions are dropped too.',
  flags: { 'url-file': urlFile, project, yes: { short: 'y', help: 'do not ask' } },
  examples: {
    'heimdall fleet remove --url-file ~/owner-url': 'removes this repository’s fleet after its name is typed',
    'heimdall fleet remove --project shop --yes < owner-url': 'removes the fleet shop',
  },
  output: 'project (id of the fleet), name, left (this machine was a member and has left)',
  run: async (context, { flags }) => {
    refuseAgent('removing a fleet')
    const [{ asOwner }, { meantProject, projectsIn, removeProject }, { leaveFleet }] = await Promise.all([
      import('../../fleet/owner.ts'),
      import('../../fleet/project.ts'),
      import('../../fleet/membership.ts'),
    ])
    const options = await roomOptions(context)
    const own = memberFile(options)
    const url = await databaseUrl(context, flags['url-file'])
    const meant = await asOwner(url, async (ask) => meantProject(await projectsIn(ask), flags.project, own?.project))
    if (flags.yes !== true) await confirmRemoval(context, meant)
    const { project, name } = meant
    const isOwn = own?.project === project
    // Before the log is gone.
    if (isOwn) await leaveFleet(options, own)
    await asOwner(url, (ask) => removeProject(ask, project))
    return {
      data: { project, name, left: isOwn },
      text: [
        `Fleet ${printable(name)} (${project}) is removed from the database.`,
        ...(isOwn ? ['This machine keeps everything in its own store.'] : []),
        'Other members keep what they have with heimdall fleet leave --offline.',
      ].join('\n'),
    }
  },
})
