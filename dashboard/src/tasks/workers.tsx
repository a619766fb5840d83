// Workers: what each one takes, how its servers are, and letting one take no more.
import { type ReactNode, useState } from 'react'
import type { TasksReply } from '../../../src/hub/contract.ts'
import { segment } from '../live/api.ts'
import { useHubNow } from '../live/hooks.ts'
import { ActDialog, useAct } from '../parts/act-dialog.tsx'
import { AgentName } from '../parts/agent-mark.tsx'
import { clock } from '../parts/format.ts'

type Worker = TasksReply['workers'][number]

export function WorkerList({ workers }: { readonly workers: readonly Worker[] }): ReactNode {
  const now = useHubNow()
  if (workers.length === 0) return null
  return (
    <section className="pane scroll-x" aria-label="Workers" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            <th>Worker</th>
            <th>State</th>
            <th>Tasks at once</th>
            <th>Tier</th>
            <th>MCP servers, as it probed them</th>
            <th>Last announced</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.worker}>
              <td>
                <AgentName name={worker.worker} />
              </td>
              <td className={worker.state === 'gone' ? 'is-clash' : 'second'}>{worker.state}</td>
              <td className="second">
                {worker.active} of {worker.active_max}
              </td>
              <td className="second">{worker.model_tier}</td>
              <td className="second">
                {worker.mcp.length === 0
                  ? 'none'
                  : worker.mcp.map(({ server, health }) => (
                      <span key={server} className={health === 'ok' ? 'second' : 'is-clash'}>
                        {health === 'ok' ? '✓' : '✕'} {server} {health === 'ok' ? '' : health}{' '}
                      </span>
                    ))}
              </td>
              <td className="second">{worker.announced_at === null ? '–' : clock(worker.announced_at, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface DrainProps {
  readonly workers: readonly Worker[]
  readonly onClose: () => void
}

export function DrainDialog({ workers, onClose }: DrainProps): ReactNode {
  const able = workers.filter(({ state }) => state !== 'gone' && state !== 'draining')
  const [chosen, setChosen] = useState(able[0]?.worker ?? '')
  const { error, act } = useAct(onClose)
  return (
    <ActDialog
      title="Drain a worker"
      verb="Drain it"
      kind="harm"
      isReady={chosen !== ''}
      error={error}
      onAct={() => act(`workers/${segment(chosen)}/drain`)}
      onClose={onClose}
    >
      <p className="second">It ends what it has and takes no more tasks. Those that wait go to others.</p>
      <label className="labelled">
        Worker
        <select className="field" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          {able.map(({ worker }) => (
            <option key={worker}>{worker}</option>
          ))}
        </select>
      </label>
    </ActDialog>
  )
}
