// The files by which commands of the same user find the hub: where it listens, the unix socket that they talk to, and the lock that says that there is one hub. All are in the state folder, which other users cannot enter.
import fs from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { tryLock } from '../../storage/kernel-lock.ts'

export interface HubFile {
  readonly v: 1
  readonly pid: number
  readonly port: number
  readonly url: string
  readonly started_at: string
  readonly read_only: boolean
  readonly projects: readonly string[]
  /** For hooks of hosts, over HTTP, and for nothing else. */
  readonly secret: string
}

export const hubFilePath = (stateDir: string): string => join(stateDir, 'hub.json')
export const controlPath = (stateDir: string): string => join(stateDir, 'hub.sock')
export const visitorsPath = (stateDir: string): string => join(stateDir, 'hub-visitors.json')

/** Nothing where there is none, or none of ours. */
export function readHubFile(stateDir: string): HubFile | undefined {
  const text = readFileIfThere(hubFilePath(stateDir))?.toString('utf8')
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as Partial<HubFile>
    return value.v === 1 && typeof value.port === 'number' && typeof value.secret === 'string'
      ? (value as HubFile)
      : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export interface HubPlace {
  write(file: HubFile): void
  /** The file is gone, and another hub may begin. */
  leave(): void
}

/** Nothing while another hub of this user runs. The kernel frees the lock of one that was killed. */
export function takeHubPlace(stateDir: string): HubPlace | undefined {
  ensureFolder(stateDir)
  const path = `${hubFilePath(stateDir)}.lock`
  const fd = onDisk(path, () => fs.openSync(path, 'a+', 0o600))
  if (!tryLock(fd)) {
    fs.closeSync(fd)
    return undefined
  }
  return {
    write: (file) => replaceFile(hubFilePath(stateDir), `${JSON.stringify(file)}\n`),
    leave() {
      removeIfThere(hubFilePath(stateDir))
      fs.closeSync(fd)
    },
  }
}

export function notRunning(cause?: unknown): HeimdallError {
  return new HeimdallError('HUB_NOT_RUNNING', 'no hub is running', { hint: 'heimdall open starts one', cause })
}
