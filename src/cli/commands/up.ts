// heimdall up: the hub in the foreground, until it is told to stop.
import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { showProject } from '../../hub/client.ts'
import { readHubFile, takeHubPlace } from '../../hub/door/hub-file.ts'
import { startHub } from '../../hub/hub.ts'
import { printable } from '../../ids.ts'
import { userName, whoActs } from '../../person.ts'
import { stateDir } from '../../paths.ts'
import type { FleetOptions } from '../../spine/fleet/look.ts'
import type { Answer, Context, Run } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import type { up } from '../table/hub.ts'
import { VERSION } from '../version.ts'
import type { DirFlag } from './session/socket-dir.ts'

export const run: Run<typeof up> = async (context, { args, flags }) => {
  const folders = args.folder.length === 0 ? [context.cwd] : args.folder.map((folder) => folderAt(context, folder))
  const place = takeHubPlace(stateDir(context.env))
  if (place === undefined) return await joinOther(context, folders, flags)
  const projects = await Promise.all(folders.map((folder) => projectAt(context, flags, folder)))
  const hub = await startHub({
    place,
    port: flags.port,
    allowedHosts: flags['allow-host'].map((name) => hostName(name)),
    isReadOnly: flags['read-only'] === true,
    projects,
    projectAt: (folder) => projectAt(context, flags, folder),
    pageDir: pageDir(process.argv[1]),
    person: userName(),
    env: context.env,
    clock: context.clock,
    version: VERSION,
    note: (line) => context.note(line),
  })
  // An agent may start the hub, which then shows; the link is a person's.
  const acting = whoActs()
  const link = acting.person ? hub.link() : null
  // Before it says how it is stopped.
  const told = stopped()
  say(context, hub.url, {
    url: hub.url,
    port: hub.port,
    pid: process.pid,
    projects: projects.map(({ project }) => project.root),
    read_only: flags['read-only'] === true,
    link,
    added: null,
  })
  if (!acting.person)
    context.note(
      `No link: it is for a person at a terminal, and ${acting.reason}; heimdall open in one of your own prints it`,
    )
  await told
  await hub.close()
  return { data: null, text: '', streamed: true }
}

function folderAt(context: Context, name: string): string {
  const folder = context.resolve(name)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder
  throw new HeimdallError('PROJECT_NOT_FOUND', `there is no folder ${printable(name)}`, {
    hint: 'heimdall up takes the folders of projects; without any, the one that it is called in',
  })
}

/** Settings are those of the folder: two projects may keep their sessions in two places. */
async function projectAt(context: Context, flags: DirFlag, folder: string): Promise<FleetOptions> {
  return await fleetOptions(context.in(folder), flags, true)
}

type Wishes = DirFlag & { readonly 'read-only'?: boolean | undefined; readonly 'allow-host': readonly string[] }

/** One hub shows them all. */
async function joinOther(context: Context, folders: readonly string[], flags: Wishes): Promise<Answer> {
  const hub = readHubFile(stateDir(context.env))
  if (hub === undefined)
    throw new HeimdallError('HUB_RUNNING', 'a hub of yours is just starting or ending', { hint: 'try again' })
  const unmet = [
    ...(flags['read-only'] === true && !hub.read_only ? ['--read-only'] : []),
    ...(flags['allow-host'].length > 0 ? ['--allow-host'] : []),
  ]
  // Whoever asks for a hub that changes nothing must not be shown by one that does.
  if (unmet.length > 0)
    throw new HeimdallError(
      'HUB_RUNNING',
      `the hub runs already at ${hub.url} (process ${hub.pid}), without ${unmet.join(' and ')}`,
      { hint: `stop it first (kill ${hub.pid}), or leave ${unmet.join(' and ')} out` },
    )
  for (const folder of folders) await projectAt(context, flags, folder)
  const shown = []
  for (const folder of folders) shown.push(await showProject(hub, folder))
  const added = shown.filter(({ isNew }) => isNew).map(({ name }) => name)
  if (added.length === 0)
    throw new HeimdallError(
      'HUB_RUNNING',
      `the hub runs already at ${hub.url} (process ${hub.pid}) and shows this project`,
      {
        hint: 'heimdall open prints a link to it',
      },
    )
  return {
    data: {
      url: hub.url,
      port: hub.port,
      pid: hub.pid,
      projects: hub.projects,
      read_only: hub.read_only,
      link: null,
      added,
    },
    text: `The hub at ${hub.url} (process ${hub.pid}) shows ${added.join(', ')} as well`,
  }
}

/** A host without a port: the tunnel's is whatever it is. */
function hostName(name: string): string {
  const plain = name.toLowerCase()
  if (/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(plain)) return plain
  throw new HeimdallError('USAGE', `--allow-host takes the name of a host, got ${JSON.stringify(name)}`)
}

function say({ json, stdout, calledAs, note }: Context, url: string, data: Readonly<Record<string, unknown>>): void {
  if (json) {
    stdout.write(`${JSON.stringify({ ok: true, command: calledAs, data, error: null })}\n`)
    return
  }
  stdout.write(`${typeof data['link'] === 'string' ? data['link'] : url}\n`)
  note(`The hub listens at ${url}; Ctrl-C stops it and nothing else`)
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
}

/** Beside the launcher that runs now. */
function pageDir(launcher: string | undefined): string {
  return join(dirname(realpathSync(launcher ?? '.')), '..', 'dist', 'dashboard')
}
