// The stdio adapter: one client, one server, lines of JSON between them.
import { tmpdir } from 'node:os'
import { Answers } from '../call/answers.ts'
import type { Adapter } from '../call/adapter.ts'
import { ClientJudge } from '../call/client-judge.ts'
import { AgentOut } from '../messages/agent-out.ts'
import type { Upstream } from '../server/upstream.ts'
import type { ShimOptions } from '../shim.ts'
import { ClientSide } from './client-side.ts'
import { startTraffic } from './traffic.ts'
import { UpstreamSide } from './upstream-side.ts'
import { watchForEnd } from './watch-for-end.ts'

/** One client has one set of ids. */
const SCOPE = ''

export const overStdio =
  (upstream: Upstream, options: ShimOptions, note: (line: string) => void): Adapter =>
  (core) => {
    const out = new AgentOut(options.stdout)
    const judge = new ClientJudge({ ...core, out, transport: 'mcp_stdio', scope: SCOPE })
    return startTraffic({
      core,
      out,
      upstream,
      upstreamSide: new UpstreamSide({
        ...core,
        answers: new Answers({ ...core, scope: SCOPE }),
        exposure: core.exposure(),
      }),
      clientSide(flow) {
        const side = new ClientSide({ ...core, judge, out, flow, holdFolder: options.env['TMPDIR'] ?? tmpdir() })
        judge.onRelease = (held) => side.release(held)
        return side
      },
      stdin: options.stdin,
      stdout: options.stdout,
      watchForEnd: watchForEnd(options),
      note,
    })
  }
