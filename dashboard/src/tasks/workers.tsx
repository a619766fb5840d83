// Workers: what each one takes, its MCP servers, and draining one.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { TasksReply } from '../../../src/hub/contract.ts'
import { ActDialog } from '../components/act-dialog.tsx'
import { AgentName } from '../components/agent-mark.tsx'
import { clock } from '../components/format.ts'
import { post, segment } from '../data/client.ts'
import { useHubNow } from '../data/clock.ts'
import { tasksQuery } from '../data/queries.ts'

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
  const queries = useQueryClient()
  const { mutate, error } = useMutation({
    mutationFn: () => post(`workers/${segment(chosen)}/drain`),
    onSuccess() {
      void queries.invalidateQueries(tasksQuery())
      onClose()
    },
  })
  return (
    <ActDialog
      title="Drain a worker"
      verb="Drain it"
      kind="harm"
      isReady={chosen !== ''}
      error={error}
      onAct={() => mutate()}
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
