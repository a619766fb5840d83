// Where hosts keep what they and their models said: the files that a session in a folder may be writing.
import fs from 'node:fs'
import { basename, join, sep } from 'node:path'
import { contains, type Env } from '../../paths.ts'
import { onDisk } from '../../storage/faults.ts'
import { namesInIfFolder } from '../../storage/folder-names.ts'
import { readIfThere } from '../../storage/unsynced-file.ts'
import { claudeTranscript } from './claude-transcript.ts'
import { codexRollout } from './codex-rollout.ts'
import { geminiChat } from './gemini-chat.ts'
import { lineObject, textOf, type UsageHost, type UsageReader } from './usage.ts'

export interface Transcript {
  readonly host: UsageHost
  readonly path: string
  /** The session that it belongs to, where its place says so; subagents' files lie with their session's. */
  readonly session: string | null
}

export const READERS: Readonly<Record<UsageHost, () => UsageReader>> = {
  claude: claudeTranscript,
  codex: codexRollout,
  gemini: geminiChat,
}

/** Transcripts of all hosts that were written to since, and that may be of sessions in the folder or below it. */
export function transcriptsIn(cwd: string, sinceMs: number, env: Env): Transcript[] {
  const home = env['HOME'] ?? ''
  if (home === '') return []
  return [
    ...claudeFiles(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), cwd),
    ...codexFiles(env['CODEX_HOME'] ?? join(home, '.codex')),
    ...geminiFiles(join(home, '.gemini'), cwd),
  ].filter(({ path }) => changedMs(path) >= sinceMs)
}

const of = (host: UsageHost, path: string, session: string | null): Transcript => ({ host, path, session })

/** A folder for each working folder, whose name is the path with dashes; subagents below a folder of the session. */
function claudeFiles(config: string, cwd: string): Transcript[] {
  const dashed = cwd.replace(/[^A-Za-z0-9]/g, '-')
  const projects = join(config, 'projects')
  const folders = names(projects).filter((name) => name === dashed || name.startsWith(`${dashed}-`))
  return folders.flatMap((folder) =>
    names(join(projects, folder)).flatMap((name) => {
      const path = join(projects, folder, name)
      if (name.endsWith('.jsonl')) return [of('claude', path, basename(name, '.jsonl'))]
      return jsonLines(join(path, 'subagents')).map((file) => of('claude', file, name))
    }),
  )
}

/** By the day on which a session began; one that is resumed grows where it is. Whose it is stands in its first line. */
function codexFiles(config: string): Transcript[] {
  const sessions = join(config, 'sessions')
  const days = names(sessions).flatMap((year) =>
    names(join(sessions, year)).flatMap((month) =>
      names(join(sessions, year, month)).map((day) => join(sessions, year, month, day)),
    ),
  )
  return days.flatMap(jsonLines).map((path) => of('codex', path, null))
}

function geminiFiles(config: string, cwd: string): Transcript[] {
  const tmp = join(config, 'tmp')
  return names(tmp)
    .filter((name) => contains(cwd, projectRoot(join(tmp, name))))
    .flatMap((name) => {
      const chats = join(tmp, name, 'chats')
      return names(chats).flatMap((entry) => {
        const path = join(chats, entry)
        if (entry.endsWith('.jsonl')) return [of('gemini', path, null)]
        return jsonLines(path).map((file) => of('gemini', file, entry))
      })
    })
}

function projectRoot(folder: string): string {
  return readIfThere(join(folder, '.project_root'))?.trim() ?? `${sep}nowhere`
}

/** Sessions of Claude Code that run now, by the process that each is; it keeps a file for every one. */
export function claudeProcesses(env: Env): { readonly pid: number; readonly session: string }[] {
  const config = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '', '.claude')
  return names(join(config, 'sessions')).flatMap((name) => {
    if (!/^\d+\.json$/.test(name)) return []
    const session = textOf(lineObject(readIfThere(join(config, 'sessions', name)) ?? '')?.['sessionId'])
    return session === null ? [] : [{ pid: Number(basename(name, '.json')), session }]
  })
}

const jsonLines = (folder: string): string[] =>
  names(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))

/** Entries of a folder of somebody else's; none where there is no such folder. */
const names = (folder: string): string[] => onDisk(folder, () => namesInIfFolder(folder))

const changedMs = (path: string): number => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
