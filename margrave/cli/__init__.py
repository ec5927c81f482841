"""margrave/cli"""
