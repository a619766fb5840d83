// All keyboard shortcuts, and settings of this browser.
import { Fragment, type ReactNode } from 'react'
import { Button, Key, Segments, type SegmentsProps } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { usePreferences } from '../data/preferences.ts'
import css from './shell.module.css'

const GROUPS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Anywhere',
    [
      ['/ or Ctrl K', 'search and commands'],
      ['g n', 'Needs you'],
      ['g f', 'Fleet'],
      ['g c', 'Claims'],
      ['g d', 'Decisions'],
      ['g t', 'Timeline'],
      ['g k', 'Tasks'],
      ['g o', 'Tokens'],
      ['j k', 'move'],
      ['Enter', 'open'],
      ['Esc', 'back'],
      ['c', 'copy the link'],
    ],
  ],
  [
    'A wait',
    [
      ['1 … 4', 'answer'],
      ['t', 'open its terminal'],
      ['z', 'snooze for 15 minutes'],
    ],
  ],
  [
    'Terminal',
    [
      ['i', 'take the keyboard'],
      ['Esc Esc', 'give it back'],
    ],
  ],
  [
    'Timeline',
    [
      ['+ −', 'zoom'],
      ['← →', 'move'],
      ['0', 'whole run'],
    ],
  ],
]

const ON_OFF = [
  { value: 'on', text: 'On' },
  { value: 'off', text: 'Off' },
] as const

const THEMES = [
  { value: 'system', text: 'As the system' },
  { value: 'dark', text: 'Dark' },
  { value: 'light', text: 'Light' },
] as const

const Setting = <T extends string>(props: SegmentsProps<T>): ReactNode => (
  <div className="row">
    <span className="grow">{props.label}</span>
    <Segments {...props} />
  </div>
)

export function KeysDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { letters, desktopNotifications, theme } = usePreferences()
  return (
    <Dialog label="Keys" onClose={onClose}>
      <div className="keys">
        <div className="row">
          <h2 className="grow">Keys</h2>
          <Button size="small" onPress={onClose} after="Esc">
            Close
          </Button>
        </div>
        <div className={css.keysColumns}>
          {GROUPS.map(([title, keys]) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl className="facts">
                {keys.map(([key, what]) => (
                  <Fragment key={key}>
                    <dt>
                      <Key>{key}</Key>
                      <span className="hidden-text">{key}</span>
                    </dt>
                    <dd>{what}</dd>
                  </Fragment>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <Setting
          label="Single letters"
          of={ON_OFF}
          chosen={letters ? 'on' : 'off'}
          onChoose={(value) => usePreferences.setState({ letters: value === 'on' })}
        />
        <Setting
          label="Desktop notifications"
          of={ON_OFF}
          chosen={desktopNotifications ? 'on' : 'off'}
          onChoose={(value) => {
            if (value === 'off') return usePreferences.setState({ desktopNotifications: false })
            void Notification.requestPermission().then((answer) =>
              usePreferences.setState({ desktopNotifications: answer === 'granted' }),
            )
          }}
        />
        <Setting
          label="Theme"
          of={THEMES}
          chosen={theme}
          onChoose={(chosen) => usePreferences.setState({ theme: chosen })}
        />
      </div>
    </Dialog>
  )
}
