// Secrets that the system keeps: asked for with the system's own program, which prints the value on its stdout and never takes it as an argument.
import { spawn } from 'node:child_process'
import type { Clock } from '../../clock.ts'
import { isProgramMissing } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { KEYCHAIN_WAIT_MS, SECRET_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'

/** Under this service entries are found, with the name of the secret as the account. */
const SERVICE = 'heimdall'

interface Keychain {
  readonly program: string
  readonly words: (ref: string) => readonly string[]
  /** It ends what it prints with a newline that is not of the value. */
  readonly endsLine: boolean
  readonly install: string
  /** A command line with which a person puts a value there. */
  readonly put: (ref: string) => string
}

const KEYCHAINS: Readonly<Partial<Record<NodeJS.Platform, Keychain>>> = {
  darwin: {
    program: 'security',
    words: (ref) => ['find-generic-password', '-s', SERVICE, '-a', ref, '-w'],
    endsLine: true,
    install: 'it is part of macOS, in /usr/bin',
    put: (ref) => `security add-generic-password -U -s ${SERVICE} -a ${ref} -w`,
  },
  linux: {
    program: 'secret-tool',
    words: (ref) => ['lookup', 'service', SERVICE, 'account', ref],
    endsLine: false,
    install: 'install libsecret-tools',
    put: (ref) => `secret-tool store --label=${ref} service ${SERVICE} account ${ref}`,
  },
}

/** How a person puts a secret there; both programs ask for the value. */
export function keychainCommand(platform: NodeJS.Platform, ref: string): string {
  return KEYCHAINS[platform]?.put(ref) ?? `no keychain is known on ${platform}`
}

export type Looked = { readonly value: string } | { readonly problem: string }

export interface KeychainLook {
  readonly platform: NodeJS.Platform
  readonly env: Env
  readonly clock: Clock
}

export async function lookInKeychain(ref: string, { platform, env, clock }: KeychainLook): Promise<Looked> {
  const keychain = KEYCHAINS[platform]
  if (keychain === undefined) return { problem: `no keychain is known on ${platform}` }
  const { program, words, endsLine, install } = keychain
  const ended = await runProgram(program, words(ref), env, clock)
  if ('error' in ended) {
    if (isProgramMissing(ended.error)) return { problem: `${program} is not on PATH: ${install}` }
    return { problem: `${program} could not be started: ${ended.error.message}` }
  }
  if (ended.isLate) return { problem: `${program} did not answer within ${KEYCHAIN_WAIT_MS} ms` }
  if (ended.code !== 0 || ended.bytes.length === 0) {
    const said = ended.said === '' ? '' : `: ${printable(ended.said)}`
    return { problem: `${program} found nothing for service ${SERVICE} and account ${ref}${said}` }
  }
  const text = ended.bytes.toString('utf8')
  return { value: endsLine ? text.replace(/\n$/, '') : text }
}

type Ended =
  | { readonly error: Error }
  | { readonly isLate: true }
  | { readonly isLate: false; readonly code: number | null; readonly bytes: Buffer; readonly said: string }

function runProgram(program: string, words: readonly string[], env: Env, clock: Clock): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    let length = 0
    let said = ''
    const timer = clock.after(KEYCHAIN_WAIT_MS, () => {
      child.kill('SIGKILL')
      resolve({ isLate: true })
    })
    child.stdout.on('data', (chunk: Buffer) => {
      // Past the limit one chunk more is enough to be refused by it.
      if (length <= SECRET_BYTES_MAX) chunks.push(chunk)
      length += chunk.length
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said ||= text.split('\n', 1)[0] ?? ''))
    child.once('error', (error) => {
      timer.cancel()
      resolve({ error })
    })
    child.once('close', (code) => {
      timer.cancel()
      resolve({ isLate: false, code, bytes: Buffer.concat(chunks), said })
    })
  })
}
