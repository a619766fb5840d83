// First run: one command to copy, three more, and what the page will answer. Not shown again once an agent was seen.
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button, Copy } from '../components/controls.tsx'
import { Icon, type IconName } from '../components/icons.tsx'
import { useTerminalCommand } from '../shell/foot.tsx'
import { NEEDS_YOU, SCREEN_LINKS } from '../shell/screens.ts'
import { usePreferences } from '../data/preferences.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './first-run.module.css'

/** Each works as it is copied: only programs that are installed are offered. */
const stepsWith = (program: string, host: string) => [
  {
    title: 'Run an agent',
    text: 'Any command works. It gets a terminal, a name and a record.',
    command: `heimdall run --agent amber-otter ${program}`,
  },
  {
    title: 'Put the agents you already use under watch',
    text: 'Shows each file and line it would change, and changes none.',
    command: `heimdall init ${host} --dry-run`,
  },
  {
    title: 'Choose what they may do',
    text: 'Start by only watching; nothing is refused.',
    command: 'heimdall policy init --from observe --out observe.yaml',
  },
  {
    title: 'Check the machine',
    text: 'Each check with its state and the command that mends it.',
    command: 'heimdall doctor',
  },
]

const HOSTS: readonly string[] = ['claude', 'codex', 'gemini', 'cursor']

const INTRODUCED: readonly {
  readonly name: keyof typeof SCREEN_LINKS
  readonly icon: IconName
  readonly tone: string
  readonly title: string
  readonly text: string
}[] = [
  {
    name: 'needs-you',
    icon: 'lamp',
    tone: '',
    title: 'Needs you',
    text: 'Every wait in one list, oldest first, answered in place.',
  },
  {
    name: 'claims',
    icon: 'bow',
    tone: 'is-clash',
    title: 'Claims',
    text: 'Who holds which paths, and who is about to write there too.',
  },
  {
    name: 'decisions',
    icon: 'shield',
    tone: '',
    title: 'Decisions',
    text: 'Each tool call: what was asked, which rule, what came next.',
  },
]

const TOUR = [
  'The line at the top has one tick for each agent. Tall amber waits for you, tall rose collides, blue works.',
  'Needs you lists every wait, oldest first. Press 1 to answer, z to snooze.',
  'Fleet shows what each one does. Enter opens its terminal; nothing is typed until you take the keyboard with i.',
  'Claims, Decisions, Timeline and Tokens say who holds what, what was allowed, what happened and what it cost. / finds all of it.',
] as const

export function FirstRunScreen(): ReactNode {
  const [tour, setTour] = useState<number | null>(null)
  const programs = useStore((state) => state.hub?.programs)
  const host = programs?.find((name) => HOSTS.includes(name)) ?? 'claude'
  const steps = stepsWith(programs?.[0] ?? 'claude', host)
  useTerminalCommand('heimdall status')
  const step = tour === null ? undefined : TOUR[tour]
  const navigate = useNavigate()
  const finish = (): void => {
    usePreferences.setState({ toured: true })
    void navigate(NEEDS_YOU)
  }
  return (
    <div className={css.firstRun}>
      <div className={css.emptyLine} aria-hidden="true">
        {Array.from({ length: 24 }, (_, index) => (
          <i key={index} />
        ))}
      </div>
      <h1 className="large">Nobody is at work yet</h1>
      <p className={cx('second', css.firstLead)}>
        Start an agent under watch and it appears here by itself. This page then answers, in this order: who waits for
        you, who is about to collide, and what was done at what cost.
      </p>
      <ol className="pane first-steps">
        {steps.map(({ title, text, command }, index) => (
          <li key={title} className={index === 0 ? cx('now', css.firstStep) : css.firstStep}>
            <span className={css.firstNumber}>{index + 1}</span>
            <div className="grow">
              <h2>{title}</h2>
              <p className="second">{text}</p>
            </div>
            <Copy text={command} isCommand className={cx('button mono', css.command)} />
          </li>
        ))}
      </ol>
      <ul className={css.firstRooms}>
        {INTRODUCED.map(({ name, icon, tone, title, text }) => (
          <li key={name}>
            <Link className={cx('pane', css.firstRoom)} {...SCREEN_LINKS[name]}>
              <b className="row">
                <span className={tone}>
                  <Icon name={icon} size={14} />
                </span>
                {title}
              </b>
              <span className="second">{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      {step !== undefined && (
        <p className="banner" role="status">
          <b>
            {(tour ?? 0) + 1} of {TOUR.length}.
          </b>
          <span className="grow">{step}</span>
          <Button size="small" onPress={() => (tour === TOUR.length - 1 ? finish() : setTour((tour ?? 0) + 1))}>
            {tour === TOUR.length - 1 ? 'Done' : 'Next'}
          </Button>
        </p>
      )}
      <p className={cx('row', css.firstFoot)}>
        <Icon name="lock" size={13} />
        <span className="second grow">Only this machine, only you: {location.host}. Nothing is sent anywhere.</span>
        {tour === null && <Button onPress={() => setTour(0)}>Show me around, {TOUR.length} steps</Button>}
        <Button kind="plain" onPress={finish}>
          Skip, and do not ask again
        </Button>
      </p>
    </div>
  )
}
