// One `ssh box hm pipe …`: started, listened to until the other end has said what it is, and then a line like a socket.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { HeimdallError, isProgramMissing } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { PIPE_GREETING_BYTES_MAX, PIPE_GREETING_MS, SSH_WORDS_BYTES_MAX } from '../../limits.ts'
import { findGreeting, type PipeGreeting } from '../../wire/pipe-greeting.ts'
import { type SshCall, sshArguments } from './ssh.ts'

type Ssh = ChildProcessByStdio<Writable, Readable, Readable>

export interface Piped {
  readonly greeting: PipeGreeting
  /** What follows the greeting, both ways. */
  readonly line: Duplex
}

/** Resolves with the greeting; refused by whatever ssh, or the machine behind it, has against it. */
export function callPipe(call: SshCall): Promise<Piped> {
  const child: Ssh = spawn('ssh', sshArguments(call), { stdio: ['pipe', 'pipe', 'pipe'], env: call.env })
  const said = lastWords(child.stderr)
  return new Promise((resolve, reject) => {
    let before = Buffer.alloc(0)
    // With time to type a password; a shell there that hangs must not hang this.
    const timer = setTimeout(
      () => fail(unreachable(call, `nothing was heard within ${PIPE_GREETING_MS / 1_000} s`)),
      PIPE_GREETING_MS,
    )
    const fail = (error: HeimdallError): void => {
      clearTimeout(timer)
      child.stdout.off('data', onData)
      child.kill()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      before = Buffer.concat([before, chunk])
      const found = findGreeting(before)
      if (found === undefined) {
        if (before.length > PIPE_GREETING_BYTES_MAX) fail(unreachable(call, 'it does not answer as hm pipe does'))
        return
      }
      clearTimeout(timer)
      child.stdout.off('data', onData).pause()
      child.off('exit', onExit)
      const rest = before.subarray(found.end)
      if (rest.length > 0) child.stdout.unshift(rest)
      resolve({ greeting: found.greeting, line: lineOf(child) })
    }
    const onExit = (code: number | null): void => fail(whyNot(call, code, said()))
    child.on('error', (error) =>
      fail(unreachable(call, isProgramMissing(error) ? 'there is no ssh program here' : error.message)),
    )
    child.on('exit', onExit)
    // The command that is gone takes no input; its exit says why.
    child.stdin.on('error', () => undefined)
    child.stdout.on('data', onData)
  })
}

/** Both pipes as one, which ends with the process. The control connection that ssh leaves behind may hold stderr open, so that is let go. */
function lineOf(child: Ssh): Duplex {
  const line = new Duplex({
    read: () => void child.stdout.resume(),
    write: (chunk: Buffer, _encoding, done) => void child.stdin.write(chunk, done),
    final: (done) => void child.stdin.end(done),
    destroy: (error, done) => {
      child.kill()
      child.stdin.destroy()
      child.stdout.destroy()
      child.stderr.destroy()
      done(error)
    },
  })
  child.stdout.on('data', (chunk: Buffer) => {
    if (!line.push(chunk)) child.stdout.pause()
  })
  child.stdout.on('end', () => line.push(null))
  child.stdin.on('error', () => line.destroy())
  line.on('end', () => line.destroy())
  return line
}

function lastWords(stderr: Readable): () => string {
  let text = ''
  stderr.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-SSH_WORDS_BYTES_MAX)
  })
  return () => text
}

/** ssh ends with 255 for its own troubles, a shell with 127 for a command that it does not find. */
function whyNot(call: SshCall, code: number | null, said: string): HeimdallError {
  const words = escapeControls(said.trim().split('\n').at(-1)?.trim() ?? '')
  if (code === 127)
    return new HeimdallError('REMOTE_UNREACHABLE', `there is no hm on ${call.host}`, {
      hint: `install Heimdall there; this must find it: ssh ${call.host} command -v hm`,
    })
  return unreachable(call, words === '' ? `ssh ended with exit code ${code}` : words)
}

function unreachable({ host }: SshCall, why: string): HeimdallError {
  return new HeimdallError('REMOTE_UNREACHABLE', `${host} cannot be reached over ssh: ${why}`, {
    hint: `this must work: ssh ${host} hm --version`,
  })
}
