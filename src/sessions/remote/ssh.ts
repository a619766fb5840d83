// The user's own ssh program, with keys and settings of the user: what it is called with, and which names it is given.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { SSH_ALIVE_COUNT, SSH_ALIVE_S, SSH_CONNECT_S, SSH_CONTROL_PATH_BYTES_MAX, SSH_PERSIST_S } from '../../limits.ts'
import { type Env, stateDir } from '../../paths.ts'
import { checkSessionDir } from '../../session-folder.ts'

/** A name of the user's ssh configuration or of the network, with or without a user. Nothing that ssh or a shell would take for more than a name. */
const HOST = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,63}@)?[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/

export function parseSshHost(text: string): string {
  if (HOST.test(text)) return text
  throw new HeimdallError('USAGE', `${printable(text)} is not the name of a machine`, {
    hint: 'a name of your ssh configuration: box, ana@box.example',
  })
}

export interface SshCall {
  readonly host: string
  /** Words without anything that a shell of any kind reads otherwise. */
  readonly command: readonly string[]
  readonly env: Env
  /** Nobody is asked for a password: the terminal is in use. */
  readonly isUnattended: boolean
}

export function sshArguments({ host, command, env, isUnattended }: SshCall): string[] {
  const control = controlPath(host, env)
  return [
    '-T',
    // Lines that went dead are found out by ssh itself.
    ...option('ServerAliveInterval', SSH_ALIVE_S),
    ...option('ServerAliveCountMax', SSH_ALIVE_COUNT),
    ...option('ConnectTimeout', SSH_CONNECT_S),
    ...(isUnattended ? option('BatchMode', 'yes') : []),
    ...(control === undefined
      ? []
      : [
          ...option('ControlMaster', 'auto'),
          ...option('ControlPath', control),
          ...option('ControlPersist', SSH_PERSIST_S),
        ]),
    '--',
    parseSshHost(host),
    ...command,
  ]
}

const option = (name: string, value: string | number): string[] => ['-o', `${name}=${value}`]

/**
 * One connection for everything that goes to a machine. Whoever can write to its socket acts as the user there, so
 * nobody else can enter the folder. Nothing where ssh could not read the path, or the system not hold it.
 */
function controlPath(host: string, env: Env): string | undefined {
  const dir = join(stateDir(env), 'ssh')
  const path = join(dir, createHash('sha256').update(host).digest('hex').slice(0, 16))
  if (!/^[\w./@+-]+$/.test(path) || path.length > SSH_CONTROL_PATH_BYTES_MAX) return undefined
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  checkSessionDir(dir, process.getuid?.() ?? 0)
  return path
}
