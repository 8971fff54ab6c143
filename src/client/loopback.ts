import { lookup, type LookupAddress, type LookupAllOptions, type LookupOneOptions } from 'node:dns';

const LOCALHOST: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

type Answered = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Finds a host as the system does, but for `localhost`: that is this machine in both of its forms, whatever a resolver says
 * of it. A backend may listen on one only, and a token in plain HTTP may go nowhere else.
 */
export function lookUp(host: string, options: LookupAllOptions | LookupOneOptions, answered: Answered): void {
  if (host !== 'localhost') return lookup(host, options, answered);
  const { family } = options;
  const found = LOCALHOST.filter((one) => !family || one.family === family || family === `IPv${one.family}`);
  const [first] = found;
  if (options.all === true) answered(null, found);
  else answered(null, first?.address ?? '127.0.0.1', first?.family ?? 4);
}
