import { describe, expect, it } from '@jest/globals';
import { beginOfDay, endOfDay, isZone, localTime, nearestInstant, zoneInSql, zoneName } from '../../src/kernel/base/timeZones.js';

describe('a time zone', () => {
  it('has the name of IANA, not an abbreviation that may be of another continent', () => {
    const names = [
      'Europe/Berlin',
      'europe/berlin',
      'America/Argentina/Ushuaia',
      'Etc/GMT-5',
      'UTC',
      'GMT',
      'EST',
      'EST5EDT',
      'Japan',
      'GB',
      'CET',
    ];
    expect(names.filter((name) => !isZone(name))).toEqual([]);
    const others = ['BST', 'IST', 'CST', 'AST', 'ACT', 'ECT', 'PST', 'JST', 'SystemV/PST8', '+02:00', 'Europe/Atlantis', 'Europe', '', '/'];
    expect(others.filter(isZone)).toEqual([]);
    // The sign of kelvins is a k in small letters.
    expect(isZone('Asia/\u212Aolkata')).toBe(false);
  });

  it.each([
    ['europe/BERLIN', 'Europe/Berlin'],
    ['utc', 'UTC'],
    ['est5edt', 'EST5EDT'],
    ['etc/gmt-5', 'Etc/GMT-5'],
    ['etc/utc', 'Etc/UTC'],
    ['us/pacific', 'US/Pacific'],
    ['america/port_of_spain', 'America/Port_of_Spain'],
    ['america/argentina/comodrivadavia', 'America/Argentina/Comodrivadavia'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['asia/kolkata', 'Asia/Kolkata'],
    ['ASIA/kolkata', 'ASIA/kolkata'],
    ['ASIA/KOLKATA', 'Asia/Kolkata'],
    ['EUROPE/KYIV', 'Europe/Kyiv'],
    ['ASIA/HO_CHI_MINH', 'Asia/Ho_Chi_Minh'],
    ['US/EASTERN', 'US/Eastern'],
    ['ETC/UCT', 'Etc/UCT'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
  ])('%s is called %s, and stays the name of the zone that was meant', (given, name) => {
    expect(zoneName(given)).toBe(name);
  });
});

describe('a name that was asked for before', () => {
  it('in other letters says nothing of how it is called, and what is too long for one is none', () => {
    for (const name of ['ASIA/KOLKATA', 'US/PACIFIC']) zoneName(name);
    expect(['Asia/Kolkata', 'US/Pacific', 'asia/kolkata'].map(zoneName)).toEqual(['Asia/Kolkata', 'US/Pacific', 'Asia/Kolkata']);
    expect(zoneName(`Europe/${'x'.repeat(1_000_000)}`)).toBeUndefined();
  });
});

describe('the end of a day', () => {
  const ends = (day: string, zone: string) => endOfDay(day, zone).toISOString();

  it('is the last millisecond before the next midnight of the zone', () => {
    expect(ends('2030-05-06', 'UTC')).toBe('2030-05-06T23:59:59.999Z');
    expect(ends('2030-05-06', 'America/New_York')).toBe('2030-05-07T03:59:59.999Z');
    expect(ends('2030-05-06', 'Asia/Kathmandu')).toBe('2030-05-06T18:14:59.999Z');
    expect(ends('2028-02-28', 'Pacific/Kiritimati')).toBe('2028-02-28T09:59:59.999Z');
  });

  it('knows the days on which the clocks change', () => {
    expect(ends('2030-03-30', 'Europe/Berlin')).toBe('2030-03-30T22:59:59.999Z');
    expect(ends('2030-03-31', 'Europe/Berlin')).toBe('2030-03-31T21:59:59.999Z');
    expect(ends('2030-10-27', 'Europe/Berlin')).toBe('2030-10-27T22:59:59.999Z');
  });

  it('knows zones where midnight is skipped, or comes after an hour is repeated', () => {
    // São Paulo went from 23:59:59 on the 3rd to 01:00 on the 4th, and on February 17th from midnight back to 23:00.
    expect(ends('2018-11-03', 'America/Sao_Paulo')).toBe('2018-11-04T02:59:59.999Z');
    expect(ends('2018-02-17', 'America/Sao_Paulo')).toBe('2018-02-18T02:59:59.999Z');
  });
});

describe('the beginning of a day', () => {
  it.each([
    ['2026-10-25', 'Atlantic/Azores', '2026-10-25T00:00:00.000Z', 'the first of two midnights'],
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z', 'the first of two midnights'],
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z', 'the change of clocks that skip midnight'],
    ['2011-12-31', 'Pacific/Apia', '2011-12-30T10:00:00.000Z', 'the change of clocks that skip a day'],
    ['0001-01-01', 'UTC', '0001-01-01T00:00:00.000Z', 'the first of all'],
  ])('%s in %s is %s: %s', (day, zone, begin) => {
    expect(beginOfDay(day, zone).toISOString()).toBe(begin);
    expect(beginOfDay(day, zone, 1).getTime()).toBe(endOfDay(day, zone).getTime() + 1);
  });
});

describe('a date-time without an offset', () => {
  it.each([
    ['America/New_York', '2026-03-08T02:30:00', '2026-03-08T07:30:00.000Z', 'skipped, so by the offset of before'],
    ['America/New_York', '2026-11-01T01:30:00', '2026-11-01T06:30:00.000Z', 'shown twice, so the second'],
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00.000Z', 'skipped, so by the offset of before'],
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T01:30:00.000Z', 'shown twice, so the second'],
    ['Asia/Tokyo', '2026-03-08 02:30', '2026-03-07T17:30:00.000Z', 'as the clocks show it'],
    ['America/New_York', '2026-03-08T03:30:00', '2026-03-08T07:30:00.000Z', 'as the clocks show it'],
  ])('is in %s of %s the instant %s: %s', (zone, local, instant) => {
    expect(nearestInstant(local, zone).toISOString()).toBe(instant);
  });
});

describe('the name of a zone in SQL', () => {
  it.each(['CET', 'met', 'EET', 'WET', 'EST', 'MST', 'HST'])('is for %s that of a zone with the same clocks', (zone) => {
    const named = zoneInSql(zone);
    expect(named).toMatch(/^[A-Z]\w+\/\w+$/);
    for (const moment of ['2026-01-15T12:00:00Z', '2026-03-29T00:30:00Z', '2026-07-01T22:30:00Z', '2026-10-25T01:30:00Z'])
      expect(localTime(new Date(moment), named)).toBe(localTime(new Date(moment), zone));
  });

  it('is any other as it is', () => {
    const others = ['Europe/Berlin', 'UTC', 'GMT', 'EST5EDT', 'Etc/GMT-5'];
    expect(others.map(zoneInSql)).toEqual(others);
  });
});
