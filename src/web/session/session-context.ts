import { type Accessor, createContext, useContext } from 'solid-js';
import type { actions, OutputOf } from '../api/call.ts';

export type SessionInFull = OutputOf<typeof actions.session.status.get>;

/** The session that the page shows, as it stands now. */
export const SessionContext = createContext<Accessor<SessionInFull | undefined>>(() => undefined);

export const useSession = (): Accessor<SessionInFull | undefined> => useContext(SessionContext);
