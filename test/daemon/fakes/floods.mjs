import { say, update, writeAll } from './wire.mjs';

/** Behaviours that say more than anybody can want. */
export const FLOODS = {
  async 'huge-words'() {
    const huge = 'h'.repeat(20 * 1024 * 1024);
    update({
      sessionUpdate: 'tool_call',
      toolCallId: huge,
      title: 'Big',
      kind: 'execute',
      status: 'pending',
    });
    update({ sessionUpdate: 'tool_call_update', toolCallId: huge, status: 'completed' });
    update({ sessionUpdate: 'tool_call', toolCallId: 'k', title: huge, kind: 'read', status: 'pending' });
    update({ sessionUpdate: 'tool_call', toolCallId: 'k', kind: huge });
    update({ sessionUpdate: 'tool_call', toolCallId: 'k', status: huge });
    update({ sessionUpdate: huge });
    update({ sessionUpdate: 'current_mode_update', currentModeId: huge });
    say('after all that');
    return huge;
  },
  async 'huge-error'() {
    throw { code: -32603, message: 'e'.repeat(20 * 1024 * 1024) };
  },
  async flood() {
    const block = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 64; i += 1) writeAll(block);
  },
  async 'long-line'(text) {
    say('y'.repeat(Number(text)));
  },
  async 'slow-line'(text) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    say('y'.repeat(Number(text)));
  },
  async 'text-flood'(text) {
    const chunk = 'z'.repeat(1000);
    for (let i = 0; i < Number(text); i += 1) say(chunk);
  },
  async 'noise-flood'(text) {
    writeAll('noise\n'.repeat(Number(text)));
    say('done');
  },
  async 'works-and-dies'(text) {
    for (let i = 0; i < Number(text); i += 1) update({ sessionUpdate: 'tool_call', toolCallId: `t${i}` });
    process.exit(9);
  },
  async 'talks-afterwards'(text) {
    setTimeout(() => {
      for (let i = 0; i < Number(text); i += 1) update({ sessionUpdate: 'hologram', title: `${i}` });
    }, 100);
  },
};
