// Another user of this machine, as real processes of its uid: listens on a port that became free, and sends requests. Needs root.
import { type Program, startProgram } from './programs.ts'
import { needs } from './needs.ts'
import type { Json } from './shim-client.ts'

export const OTHER_UID = 65_534

/** Runs a script of Node.js; `args` is its last argument, parsed. */
function asOtherUser(script: string, args: object): Program {
  needs('root')
  const become = `process.setgid(${OTHER_UID}); process.setuid(${OTHER_UID}); const args = JSON.parse(process.argv[1]);`
  return startProgram([process.execPath, '-e', `${become}\n${script}`, JSON.stringify(args)], { cwd: '/' })
}

export interface Squatter {
  readonly program: Program
  readonly port: number
  /** Every byte that any connection has sent it. */
  received(): string
}

/** Answers every request with the same JSON. Resolves when it listens; `port` 0 takes any. */
export async function otherUserListens(port: number, answer: object = {}): Promise<Squatter> {
  const script = `
    const answer = JSON.stringify(args.answer)
    require('node:net').createServer((socket) => {
      socket.on('error', () => {}).on('data', (bytes) => {
        console.log(JSON.stringify(bytes.toString()))
        socket.write('HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: ' + Buffer.byteLength(answer) + '\\r\\n\\r\\n' + answer)
      })
    }).listen(args.port, '127.0.0.1', function () { console.log('listens ' + this.address().port) })`
  const program = asOtherUser(script, { port, answer })
  const [, taken] = /^listens (\d+)$/.exec(await program.waitForLine(/^listens/)) ?? []
  return {
    program,
    port: Number(taken),
    received: () =>
      program
        .stdout()
        .split('\n')
        .filter((line) => line.startsWith('"'))
        .map((line) => JSON.parse(line) as string)
        .join(''),
  }
}

/** The status of the answer, or the error code when there is none. */
export async function otherUserPosts(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const script = `
    require('node:http').request(args.url, { method: 'POST', headers: args.headers, agent: false })
      .on('response', (response) => { console.log(response.statusCode); response.resume() })
      .on('error', (error) => console.log(error.code))
      .end(JSON.stringify(args.body))`
  const { stdout, stderr } = await asOtherUser(script, {
    url,
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  } satisfies Json).ended
  return `${stdout}${stderr}`.trim()
}

/** Connects, sends, and closes at once. Resolves when its process has ended. */
export async function otherUserSendsAndLeaves(port: number, text: string): Promise<void> {
  const script = `
    require('node:net').connect(args.port, '127.0.0.1', function () { this.write(args.text, () => process.exit()) })`
  await asOtherUser(script, { port, text }).ended
}
