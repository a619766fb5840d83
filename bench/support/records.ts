// Records of runs as shims write them, as many as a bench needs.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const POLICY = { policy_id: 'team', policy_version: '1.0.0', policy_hash: 'c'.repeat(64) }

/** A run as a shim writes it: three events for each call, one call in fifty refused. */
export function recordOf(run: number, calls: number, repoPath?: string): string {
  const runId = `01M7JJ2NEXMD45Y88K${String(run).padStart(8, '0')}`
  const startMs = Date.UTC(2026, 9, 1) + run * 3_600_000
  const envelope = (type: string, atMs: number): object => ({
    v: '0.2.0',
    type,
    ts: new Date(startMs + atMs).toISOString(),
    run_id: runId,
    agent_id: `amber-otter-${run % 17}`,
    client: 'claude',
    env: 'dev',
    ...(repoPath === undefined ? {} : { workload: { repo_path: repoPath } }),
    source: { host_id: 'h'.repeat(36), proc_id: 'p'.repeat(26), shim_id: 's'.repeat(26) },
  })
  const lines: object[] = [
    {
      ...envelope('run_start', 0),
      run: { started_at: new Date(startMs).toISOString(), mode: 'guardrails', policy: POLICY, segment: 1 },
    },
  ]
  for (let n = 0; n < calls; n += 1) {
    const isRefused = n % 50 === 7
    const call = {
      call_id: `01M7JJ${String(run).padStart(8, '0')}${String(n).padStart(12, '0')}`,
      server_name: ['filesystem', 'git', 'linear'][n % 3],
      tool_name: `tool_${n % 23}`,
      args_hash: 'a'.repeat(64),
    }
    const args = JSON.stringify({
      path: `src/part-${n % 97}/module-${n}.ts`,
      query: `find the ${n % 31} callers of handler`,
    })
    const result = JSON.stringify({
      content: [{ type: 'text', text: `found ${n % 13} matches in ${n % 7} files, none of them in tests` }],
    })
    lines.push(
      {
        ...envelope('tool_call_start', n * 10),
        call: {
          ...call,
          transport: 'mcp_stdio',
          bytes_in: 240,
          preview: { truncated: false, args_preview: args },
          seq: n + 1,
        },
      },
      {
        ...envelope('tool_call_decision', n * 10),
        call,
        decision: {
          action: isRefused ? 'BLOCK' : 'ALLOW',
          rule_id: isRefused ? `no-writes-${n % 5}` : null,
          severity: isRefused ? 'warn' : 'info',
          explain: {
            summary: isRefused ? 'writes outside the claimed paths are refused' : 'no rule matched',
            reason_code: isRefused ? 'DENYLIST_MATCH' : 'DEFAULT_ALLOW',
          },
          policy: POLICY,
        },
      },
      {
        ...envelope('tool_call_end', n * 10 + 6),
        call,
        status: isRefused ? 'ERROR' : 'OK',
        latency_ms: 6,
        bytes_out: 420,
        preview: { truncated: false, result_preview: result },
      },
    )
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

export interface Recorded {
  readonly runs: number
  readonly callsOfRun: number
  /** The project that they were made in. */
  readonly repoPath?: string
}

/** Returns the folder of runs. */
export function writeRuns(state: string, { runs, callsOfRun, repoPath }: Recorded): string {
  const runsDir = join(state, 'runs')
  for (let run = 0; run < runs; run += 1) {
    const text = recordOf(run, callsOfRun, repoPath)
    const { run_id } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { run_id: string }
    mkdirSync(join(runsDir, run_id), { recursive: true, mode: 0o700 })
    writeFileSync(join(runsDir, run_id, 'events.jsonl'), text)
  }
  return runsDir
}
