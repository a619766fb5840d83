// The words of a command line that name a remote server, and where its clients are listened for.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { fitsHeader, isOfTheRequest } from '../secrets/injectable.ts'
import type { RemoteServer } from '../shim.ts'

/** Values of these are credentials, and every process of the machine can read a command line. */
const CREDENTIALS = /^(authorization|cookie|.*(token|secret|api-?key|password).*)$/i
const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ['', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', '127.0.0.1'],
  ['[::1]', '::1'],
])

export function remoteServer(url: string, listen: string | undefined, headers: readonly string[]): RemoteServer {
  return {
    kind: 'remote',
    url: urlOf(url),
    listen: listenOf(listen),
    headers: Object.fromEntries(headers.map(headerOf)),
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw usage(`--url ${printable(text)} is no address of a server; https://host/path is`)
  // Not quoted: it may hold a password.
  if (url.username !== '' || url.password !== '') throw usage('--url holds a user or password; bind a secret instead')
  url.hash = ''
  return url
}

/** Nothing listens unless asked to, and nobody but this machine is listened to. */
function listenOf(text: string | undefined): RemoteServer['listen'] {
  if (text === undefined)
    throw usage(
      'a server with --url is reached through an address of this machine: give --listen 127.0.0.1:PORT, or --listen 0',
    )
  const [, name = '', digits = ''] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? []
  const host = LOOPBACK.get(name.toLowerCase())
  const port = Number(digits)
  if (digits === '' || host === undefined || port > 65_535)
    throw usage(
      `--listen ${printable(text)} is no address of this machine alone; 127.0.0.1:PORT, [::1]:PORT or PORT is`,
    )
  return { host, port }
}

function headerOf(text: string): [string, string] {
  const at = text.indexOf(':')
  const name = text.slice(0, Math.max(at, 0)).trim()
  const value = text.slice(at + 1).trim()
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !fitsHeader(value))
    throw usage('--header is NAME: VALUE, in one line of ASCII')
  if (isOfTheRequest(name)) throw usage(`--header ${name}: that one is written by the proxy itself`)
  if (CREDENTIALS.test(name))
    throw usage(`--header ${name}: bind a secret instead, a command line is read by everybody`)
  return [name, value]
}

const usage = (message: string): HeimdallError => new HeimdallError('USAGE', message)

/** Where nobody listens on the way. */
export function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
