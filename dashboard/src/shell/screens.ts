// The screens and how they are reached: by the rail, by the tabs of a phone, by keys, by the search box.
import { linkOptions } from '@tanstack/react-router'
import type { IconName } from '../components/icons.tsx'

// Optional parameters are named: a link without them would keep those of the current route.
export const SCREEN_LINKS = {
  'needs-you': linkOptions({ to: '/needs-you/{-$wait}', params: { wait: undefined } }),
  fleet: linkOptions({ to: '/fleet' }),
  claims: linkOptions({ to: '/claims/$', params: { _splat: undefined } }),
  decisions: linkOptions({ to: '/decisions/{-$run}/{-$call}', params: { run: undefined, call: undefined } }),
  timeline: linkOptions({ to: '/timeline/{-$run}', params: { run: undefined } }),
  tasks: linkOptions({ to: '/tasks/{-$task}', params: { task: undefined } }),
  tokens: linkOptions({ to: '/tokens' }),
} as const

const screen = (name: keyof typeof SCREEN_LINKS, title: string, icon: IconName, key: string) => ({
  name,
  title,
  icon,
  key,
  link: SCREEN_LINKS[name],
})

export const SCREENS = [
  screen('needs-you', 'Needs you', 'diamond', 'g n'),
  screen('fleet', 'Fleet', 'grid', 'g f'),
  screen('claims', 'Claims', 'map', 'g c'),
  screen('decisions', 'Decisions', 'shield', 'g d'),
  screen('timeline', 'Timeline', 'lanes', 'g t'),
  screen('tasks', 'Tasks', 'list', 'g k'),
  screen('tokens', 'Tokens', 'bars', 'g o'),
]

export const NEEDS_YOU = SCREEN_LINKS['needs-you']
