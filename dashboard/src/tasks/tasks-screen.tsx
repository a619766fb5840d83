// Tasks: the queue, the worker and budget of each, and why a worker gets the next one.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { AgentCard, CardState, RoutingReply, TaskRow } from '../../../src/hub/contract.ts'
import { Answers, useWhyDisabled } from '../needs-you/answers.tsx'
import { isOfTask } from '../needs-you/wait-detail.tsx'
import { AgentName } from '../components/agent-mark.tsx'
import { Button } from '../components/controls.tsx'
import { Empty, QueryPart } from '../components/feedback.tsx'
import { clock, clockWithSeconds, tokenCount } from '../components/format.ts'
import { Icon, type IconName } from '../components/icons.tsx'
import { useNarrow } from '../components/media-query.ts'
import { StateWord } from '../components/state.tsx'
import { STATE as AGENT_STATE, whoWaits } from '../components/words.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { useListKeys } from '../shell/keys.tsx'
import { DispatchDialog } from './dispatch-dialog.tsx'
import { DrainDialog, WorkerList } from './workers.tsx'
import { post, segment } from '../data/client.ts'
import { useHubNow } from '../data/clock.ts'
import { routingQuery, tasksQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './tasks.module.css'

const route = getRouteApi('/tasks/{-$task}')

const STATE: Readonly<
  Record<TaskRow['state'], { readonly word: string; readonly glyph: IconName; readonly tone: string }>
> = {
  queued: { word: 'Queued', glyph: 'clock', tone: 'plain' },
  placing: { word: 'Being placed', glyph: 'arrow', tone: 'working' },
  running: { word: 'Running', glyph: 'dot', tone: 'working' },
  blocked: { word: 'Blocked', glyph: 'barred', tone: 'refused' },
  parked: { word: 'Parked', glyph: 'broken', tone: 'stale' },
  partial: { word: 'Partial', glyph: 'square', tone: 'plain' },
  done: { word: 'Done', glyph: 'check', tone: 'plain' },
  failed: { word: 'Failed', glyph: 'cross', tone: 'refused' },
  cancelled: { word: 'Cancelled', glyph: 'stop', tone: 'plain' },
}

/** Begun by an agent that ended without finishing it. */
const LEFT = { word: 'Left open', glyph: 'broken', tone: 'stale' } as const

type Agents = ReadonlyMap<string, AgentCard>

/** The state of the agent that works on a running task. */
const workerState = ({ state, worker }: TaskRow, agents: Agents): CardState | undefined =>
  state !== 'running' || worker === null ? undefined : agents.get(worker)?.state

function isLeft(task: TaskRow, agents: Agents): boolean {
  const does = workerState(task, agents)
  return does === 'done' || does === 'cancelled' || does === 'failed'
}

const OPEN: readonly TaskRow['state'][] = ['queued', 'placing', 'running', 'blocked', 'parked', 'partial']

export default function TasksScreen(): ReactNode {
  const { task: selected } = route.useParams()
  const navigate = route.useNavigate()
  const query = useQuery(tasksQuery())
  const [isDispatching, setIsDispatching] = useState(false)
  const [isDraining, setIsDraining] = useState(false)
  const whyDisabled = useWhyDisabled()
  const tasks = query.data?.tasks ?? []
  const workers = query.data?.workers ?? []
  const shown =
    selected === undefined
      ? (['placing', 'queued'].flatMap((wanted) => tasks.filter(({ state }) => state === wanted))[0] ?? tasks[0])
      : tasks.find(({ task_id }) => task_id === selected)
  const waits = useStore((state) => state.waits)
  const agents = useStore((state) => state.agents)
  const asks = waits.find((wait) => isOfTask(wait) && wait.task === shown?.task_id)
  const now = useHubNow()
  const select = ({ task_id: task }: TaskRow): void => void navigate({ to: '/tasks/{-$task}', params: { task } })
  const at = tasks.findIndex((task) => task === shown)
  useListKeys(tasks, at, select, { n: () => setIsDispatching(true) })
  useTerminalCommand(shown === undefined ? 'heimdall task list' : `heimdall task explain ${shown.task_id}`)
  return (
    <div className={cx('column fill', css.tasks)}>
      <div className="page-head">
        <h1>Tasks</h1>
        <span className="second">{summary(tasks, agents)}</span>
        <span className="grow" />
        {workers.length > 0 && (
          <Button whyDisabled={whyDisabled} onPress={() => setIsDraining(true)}>
            Drain a worker…
          </Button>
        )}
        <Button kind="start" after="n" whyDisabled={whyDisabled} onPress={() => setIsDispatching(true)}>
          Dispatch a task
        </Button>
      </div>
      <section className={cx('pane scroll-x scroll', css.taskList)} aria-label="Tasks">
        <QueryPart what="tasks" query={query}>
          {({ tasks }) =>
            tasks.length === 0 ? (
              <Empty title="No tasks yet">
                A task that is dispatched goes to a worker that can do it: <code>heimdall task add</code>
              </Empty>
            ) : (
              <TaskTable tasks={tasks} selected={shown?.task_id ?? null} />
            )
          }
        </QueryPart>
      </section>
      {asks !== undefined && shown !== undefined && (
        <section className="pane task-asks" aria-label={`What ${shown.task_id} waits for`}>
          <div className="ask">
            <p className="second">
              {whoWaits(asks)} asks about {shown.task_id}, since {clock(asks.since, now)}
            </p>
            <p className="asked" dir="auto">
              {asks.asked}
            </p>
            <Answers key={asks.wait_id} wait={asks} />
          </div>
        </section>
      )}
      {shown !== undefined && <Routing key={shown.task_id} task={shown} />}
      {selected !== undefined && shown === undefined && query.data !== undefined && (
        <section className="pane" aria-label="The task of the link">
          <Empty title="No such task">
            <p className="cut">None of this project has the id {selected}.</p>
          </Empty>
        </section>
      )}
      <WorkerList workers={workers} />
      {isDraining && <DrainDialog workers={workers} onClose={() => setIsDraining(false)} />}
      {isDispatching && <DispatchDialog onClose={() => setIsDispatching(false)} />}
    </div>
  )
}

function summary(tasks: readonly TaskRow[], agents: Agents): string {
  const left = tasks.filter((task) => isLeft(task, agents))
  const open = tasks.filter((task) => OPEN.includes(task.state))
  const parts = OPEN.map((state) => {
    const count = open.filter((task) => task.state === state && !left.includes(task)).length
    return [count, STATE[state].word] as const
  })
  const said = [...parts, [left.length, LEFT.word] as const]
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word.toLowerCase()}`)
  const done = tasks.filter(({ state }) => state === 'done').length
  return `${open.length} open${said.length === 0 ? '' : `: ${said.join(', ')}`}.${done === 0 ? '' : ` ${done} done.`}`
}

function TaskTable({
  tasks,
  selected,
}: {
  readonly tasks: readonly TaskRow[]
  readonly selected: string | null
}): ReactNode {
  const now = useHubNow()
  return (
    <table className="table">
      <thead>
        <tr>
          <th>Task</th>
          <th>Title</th>
          <th className="wide-only">Priority</th>
          <th>State</th>
          <th className="wide-only">Worker</th>
          <th className="wide-only">Attempt</th>
          <th className="wide-only">Tokens spent of budget</th>
          <th className="wide-only">Deadline</th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <tr key={task.task_id} aria-selected={task.task_id === selected}>
            <td className={cx('mono cut', css.taskId)} title={task.task_id}>
              <Link to="/tasks/{-$task}" params={{ task: task.task_id }} data-task={task.task_id}>
                {task.task_id}
              </Link>
            </td>
            <td className={cx('cut', css.taskTitle)} title={task.title}>
              {task.title}
            </td>
            <td className={task.priority === 'normal' || task.priority === 'low' ? 'quiet wide-only' : 'wide-only'}>
              {task.priority ?? '–'}
            </td>
            <td className={css.taskState}>
              <TaskState task={task} />
            </td>
            <td className="wide-only">{task.worker === null ? '–' : <AgentName name={task.worker} />}</td>
            <td className="wide-only">
              {task.attempt === null
                ? '–'
                : `${task.attempt}${task.attempts_max === null ? '' : ` of ${task.attempts_max}`}`}
            </td>
            <td className="wide-only">
              <Spent task={task} />
            </td>
            <td
              className={
                task.deadline !== null && Date.parse(task.deadline) < now && OPEN.includes(task.state)
                  ? 'is-clash wide-only'
                  : 'second wide-only'
              }
            >
              {task.deadline === null
                ? '–'
                : `${clock(task.deadline, now)}${Date.parse(task.deadline) < now ? ', passed' : ''}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function TaskState({ task }: { readonly task: TaskRow }): ReactNode {
  const agents = useStore((state) => state.agents)
  const asks = useStore(({ waits }) => waits.some((wait) => isOfTask(wait) && wait.task === task.task_id))
  if (asks) return <StateWord state="needs_you" />
  const does = workerState(task, agents)
  const isLeftOpen = isLeft(task, agents)
  // "Running, stale": the state of the task, then that of an agent that does not work on it now.
  const halts = does === undefined || does === 'working' || isLeftOpen ? undefined : AGENT_STATE[does]
  const { word } = isLeftOpen ? LEFT : STATE[task.state]
  const { glyph, tone } = halts ?? (isLeftOpen ? LEFT : STATE[task.state])
  const why = isLeftOpen ? `${task.worker} ended and did not say what became of it` : (task.summary ?? undefined)
  return (
    <span className={`state ${tone}`} title={why}>
      <Icon name={glyph} size={12} />
      <span>
        {word}
        {halts !== undefined && `, ${halts.word.toLowerCase()}`}
        {isLeftOpen && `, its agent ${does === 'failed' ? 'failed' : does === 'cancelled' ? 'was ended' : 'is done'}`}
        {task.state === 'blocked' && task.tokens_spent === 0 && ', 0 tokens'}
      </span>
    </span>
  )
}

function Spent({ task: { tokens_spent: spent, tokens_budget: budget } }: { readonly task: TaskRow }): ReactNode {
  if (spent === null && budget === null) return '–'
  const share = budget === null || budget === 0 ? 0 : Math.min(1, (spent ?? 0) / budget)
  return (
    <span className="row">
      <span className={css.meter} aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <span className="second">
        {spent === null ? 'not metered' : tokenCount(spent)}
        {budget !== null && ` of ${tokenCount(budget)}`}
      </span>
    </span>
  )
}

function Routing({ task }: { readonly task: TaskRow }): ReactNode {
  const query = useQuery(routingQuery(task.task_id))
  const queries = useQueryClient()
  const { mutate, error } = useMutation({
    mutationFn: (verb: 'cancel' | 'retry') => post(`tasks/${segment(task.task_id)}/${verb}`),
    onSuccess: () => queries.invalidateQueries(tasksQuery()),
  })
  const whyDisabled = useWhyDisabled()
  const chosen = query.data?.workers.find(({ is_chosen }) => is_chosen)?.worker
  // A task that an agent took by itself cannot be cancelled from here.
  const isDispatched = task.attempt !== null
  return (
    <section className={cx('pane inspector', css.routing)} aria-label={`Why ${task.task_id} goes where it goes`}>
      <header>
        <span className="is-work">
          <Icon name="arrow" size={13} />
        </span>
        <h3 className="grow cut">
          {chosen !== undefined && `Why ${chosen} gets `}
          <span className="mono">{task.task_id}</span>{' '}
          <span className="second plain">{query.data?.summary ?? task.summary ?? ''}</span>
        </h3>
        {query.data?.probed_at != null && <span className="meta">probed {clockWithSeconds(query.data.probed_at)}</span>}
        {error !== null && (
          <span className="is-clash" role="alert">
            ✕ {error.code}: {error.message}
          </span>
        )}
        {isDispatched && ['blocked', 'parked', 'failed'].includes(task.state) && (
          <Button size="small" whyDisabled={whyDisabled} onPress={() => mutate('retry')}>
            Try again
          </Button>
        )}
        {isDispatched && OPEN.includes(task.state) && task.state !== 'partial' && (
          <Button size="small" kind="harm" whyDisabled={whyDisabled} onPress={() => mutate('cancel')}>
            Cancel
          </Button>
        )}
      </header>
      <QueryPart what="reasons" query={query}>
        {({ workers }) =>
          workers.length === 0 ? (
            <Empty title={isDispatched ? 'No worker was asked yet' : 'There was nothing to choose'} />
          ) : (
            <Workers workers={workers} />
          )
        }
      </QueryPart>
    </section>
  )
}

function Workers({ workers }: { readonly workers: RoutingReply['workers'] }): ReactNode {
  const names = [...new Set(workers.flatMap(({ checks }) => checks.map(({ name }) => name)))]
  // On a phone the answer comes first: the checks are scrolled into view.
  const isNarrow = useNarrow()
  return (
    <div className="scroll-x" role="region" aria-label="Each worker, check by check" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            <th>Worker</th>
            {isNarrow && <th>Answer</th>}
            {names.map((name) => (
              <th key={name}>{name}</th>
            ))}
            <th>Load</th>
            {!isNarrow && <th>Answer</th>}
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.worker} aria-selected={worker.is_chosen}>
              <td>
                <AgentName name={worker.worker} />
              </td>
              {isNarrow && <WorkerAnswer worker={worker} />}
              {names.map((name) => {
                const check = worker.checks.find((each) => each.name === name)
                return (
                  <td key={name} className={check === undefined ? 'quiet' : check.passes ? 'second' : 'is-clash'}>
                    {check === undefined ? '–' : `${check.passes ? '✓' : '✕'} ${check.text}`}
                  </td>
                )
              })}
              <td>{worker.score === null ? '–' : `${Math.round(worker.score.load * 100)} %`}</td>
              {!isNarrow && <WorkerAnswer worker={worker} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const WorkerAnswer = ({ worker }: { readonly worker: RoutingReply['workers'][number] }): ReactNode => (
  <td className={worker.is_chosen ? 'is-work strong' : 'second'}>{worker.answer}</td>
)
