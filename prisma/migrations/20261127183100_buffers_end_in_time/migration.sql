-- A buffer that reached into the year 10000 could be kept, and not be read again: it kept its appointment from being changed.
UPDATE appointments SET busy_until = timestamptz '9999-12-31T23:59:59.999Z' WHERE busy_until > timestamptz '9999-12-31T23:59:59.999Z';
